# hookwatch: `make` builds into build/, `make demo` shows the main job, `make test` tests all that needs no GPU.
# V=1 shows commands; SAN=1 builds with the address and undefined-behaviour sanitizers; B=DIR builds elsewhere.

ifeq ($(SAN),1)
B ?= build/san
else
B ?= build
endif
# One spelling for one folder: the dependency files hold it.
override B := $(patsubst $(CURDIR)/%,%,$(abspath $(B)))
PREFIX ?= /usr/local
CC     ?= gcc
PYTHON ?= python3
VERSION := $(shell cat VERSION)

WARN    = -Wall -Wextra -Wconversion -Werror
CFLAGS ?= -O2 -g
BASE    = -std=gnu11 -fPIC -fvisibility=hidden $(CFLAGS) -I. -I$(B)/gen -MMD -MP -DHW_VERSION='"$(VERSION)"'
# Where the pages of docs/rules are published, with a final slash; empty: findings carry no link, `explain` prints the page.
DOCS_URL ?=
ifeq ($(SAN),1)
BASE   += -fsanitize=address,undefined -fno-omit-frame-pointer
SANLD   = -fsanitize=address,undefined
endif
Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) '$(2)')

all: $(B)/bin/hookwatch $(B)/lib/libhookwatch.so sim python

# ---- third-party sources: fetched once, checked by SHA-256, compiled without our warnings ----
TP  = $(B)/third_party
TPO = $(TP)/tree-sitter.o $(TP)/parser.o $(TP)/scanner.o $(TP)/toml-parser.o $(TP)/toml-scanner.o $(TP)/yyjson.o
$(TP)/.stamp: third_party/sources.txt scripts/fetch-sources
	$(call say,FETCH,tree-sitter tree-sitter-python tree-sitter-toml yyjson)
	$(Q)scripts/fetch-sources $(TP) && touch $@
$(TP)/tree-sitter.o: $(TP)/.stamp
	$(call say,CC,$@)
	$(Q)$(CC) -std=c11 -D_DEFAULT_SOURCE -O2 -g -fPIC -w -I$(TP)/tree-sitter/tree_sitter/core/lib/include -I$(TP)/tree-sitter/tree_sitter/core/lib/src -c $(TP)/tree-sitter/tree_sitter/core/lib/src/lib.c -o $@
$(TP)/parser.o $(TP)/scanner.o: $(TP)/%.o: $(TP)/.stamp
	$(call say,CC,$@)
	$(Q)$(CC) -std=c11 -O2 -fPIC -w -I$(TP)/include -c $(TP)/tree-sitter-python/src/$*.c -o $@
$(TP)/toml-parser.o $(TP)/toml-scanner.o: $(TP)/toml-%.o: $(TP)/.stamp
	$(call say,CC,$@)
	$(Q)$(CC) -std=c11 -O2 -fPIC -w -I$(TP)/include -c $(TP)/tree-sitter-toml/src/$*.c -o $@
$(TP)/yyjson.o: $(TP)/.stamp
	$(call say,CC,$@)
	$(Q)$(CC) -std=c11 -O2 -fPIC -w -c $(TP)/yyjson/yyjson/yyjson.c -o $@

# ---- our own objects ----
CORE   = $(wildcard core/*.c)
LINT   = $(wildcard lint/*.c lint/rules/*.c)
TRACE  = $(wildcard interpose/trace/reader*.c)
REPORT = $(wildcard report/*.c)
CLI    = $(wildcard cli/*.c)
SHIM   = $(wildcard interpose/shim/*.c interpose/python/*.c) interpose/trace/writer.c
BIN_OBJ  = $(patsubst %.c,$(B)/obj/%.o,$(CORE) $(LINT) $(TRACE) $(REPORT) $(CLI))
SHIM_OBJ = $(patsubst %.c,$(B)/shim/%.o,$(SHIM))

$(B)/obj/%.o: %.c $(TP)/.stamp
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE) $(WARN) -isystem $(TP)/include -isystem third_party -c $< -o $@
$(B)/gen/rule_pages.inc: scripts/embed-pages $(wildcard docs/rules/HW*.md)
	$(Q)mkdir -p $(@D) && scripts/embed-pages $(wildcard docs/rules/HW*.md) >$@.new && mv $@.new $@
$(B)/obj/core/rules.o: $(B)/gen/rule_pages.inc
$(B)/tidy/core/rules.ok: $(B)/gen/rule_pages.inc
$(B)/obj/core/rules.o: BASE += -DHW_DOCS_URL='"$(DOCS_URL)"'
# The shim is preloaded into other people's processes: libc only, no sanitizer, small initial-exec TLS.
$(B)/shim/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(filter-out -fsanitize=%,$(BASE)) $(WARN) -fno-builtin-malloc -ftls-model=initial-exec -c $< -o $@

$(B)/bin/hookwatch: $(BIN_OBJ) $(TPO)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANLD) $(LDFLAGS) $^ -lm -o $@
$(B)/lib/libhookwatch.so: $(SHIM_OBJ) interpose/shim/shim.map
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -shared $(LDFLAGS) -Wl,-soname,libhookwatch.so -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,--no-undefined \
	  -Wl,--version-script=interpose/shim/shim.map $(SHIM_OBJ) -o $@

include interpose/sim/sim.mk
include tests/tests.mk

# ---- what a person asks for ----
demo:
	$(Q)scripts/bootstrap
	$(Q)$(MAKE) --no-print-directory all
	$(Q)B=$(B) scripts/demo
bench: all $(B)/tests/bench/calls.so
	$(Q)B=$(B) $(PYTHON) scripts/bench

# The command finds its libraries beside it: ../lib in the build directory, ../lib/hookwatch where it is installed.
install: all
	$(Q)install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/hookwatch
	$(Q)install -m 755 $(B)/bin/hookwatch $(DESTDIR)$(PREFIX)/bin/
	$(Q)cp -R $(B)/lib/. $(DESTDIR)$(PREFIX)/lib/hookwatch/
	$(Q)install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/hookwatch/python/hookwatch monitor/python/hookwatch/*.py
	$(Q)install -D -m 644 -t $(DESTDIR)$(PREFIX)/include interpose/include/hookwatch.h
uninstall:
	$(Q)rm -rf $(DESTDIR)$(PREFIX)/bin/hookwatch $(DESTDIR)$(PREFIX)/lib/hookwatch $(DESTDIR)$(PREFIX)/include/hookwatch.h

# `make format` rewrites, `make check` only looks: layout, clang-tidy (a file again only after a change), the coverage table.
C_FILES := $(filter-out third_party/%,$(shell git ls-files -co --exclude-standard '*.c' '*.h' 2>/dev/null))
format:
	$(Q)clang-format -i $(C_FILES)
format-check:
	$(Q)clang-format --dry-run -Werror $(C_FILES)
TIDY = $(patsubst %.c,$(B)/tidy/%.ok,$(sort $(CORE) $(LINT) $(TRACE) $(REPORT) $(CLI) $(SHIM) $(wildcard interpose/sim/*.c)))
$(B)/tidy/%.ok: %.c .clang-tidy $(TP)/.stamp
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D) && clang-tidy --quiet $< -- $(filter-out -MMD -MP,$(BASE)) -isystem $(TP)/include -isystem third_party 2>$@.log >&2 \
	  || { grep ' error: ' $@.log; exit 1; }
	$(Q)mv $@.log $@
tidy: $(TIDY)
# The rows that are generated from torch's own list of operators, made again and compared.
check-knowledge:
	$(Q)python=$${HOOKWATCH_TORCH_PYTHON:-$$(scripts/torch-env)} && "$$python" scripts/generate-knowledge --check
check: format-check tidy check-knowledge
	$(Q)scripts/check-coverage

.PHONY: all sim python clean demo bench install uninstall format format-check tidy check check-knowledge
clean:
	rm -rf $(B)

-include $(BIN_OBJ:.o=.d) $(SHIM_OBJ:.o=.d)
