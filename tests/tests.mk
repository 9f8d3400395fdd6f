# What tests the product: `make test` is everything that needs no GPU; unit, traps and pytest are its parts.
# One part at a time, one program of it: make unit UNIT=test_glob, make traps TRAP=dlsym, make pytest PYTEST_ARGS='-k sarif'.

UNIT ?= test_*
TRAP ?= *
UNIT_BIN = $(sort $(patsubst %.c,$(B)/%,$(wildcard $(addprefix tests/unit/,$(addsuffix .c,$(UNIT))))))
TRAP_BIN = $(sort $(patsubst %.c,$(B)/%,$(filter-out tests/traps/lib_%,$(wildcard $(addprefix tests/traps/,$(addsuffix .c,$(TRAP)))))))
TRAP_LIB = $(patsubst %.c,$(B)/%.so,$(wildcard tests/traps/lib_*.c))
UNIT_OBJ = $(filter-out $(B)/obj/cli/main.o,$(BIN_OBJ))
TEST_INC = -isystem $(TP)/include -isystem third_party

# The shim's objects as an archive: a unit test that names one of their functions gets that object and no wrapper it did not ask for.
$(B)/tests/libshim.a: $(SHIM_OBJ)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^

$(B)/tests/unit/%: tests/unit/%.c $(UNIT_OBJ) $(B)/tests/libshim.a $(TPO)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE) $(WARN) -MF $@.d -MT $@ $(TEST_INC) $(SANLD) $< $(UNIT_OBJ) $(B)/tests/libshim.a $(TPO) \
	  -lcmocka -lm -ldl -lpthread -o $@

# Traps are the processes the shim is loaded into: built like any other program, without sanitizers. A library's first line
# may name its link options: soname, version script, libraries it needs.
$(B)/tests/traps/lib_%.so: tests/traps/lib_%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(filter-out -fsanitize=% -fvisibility=hidden,$(BASE)) $(WARN) -MF $@.d -MT $@ -shared $< \
	  $$(sed -n '1s|^/[*] link: \(.*\) [*]/$$|\1|p' $<) -L$(@D) -Wl,-rpath,'$$ORIGIN' -ldl -lpthread -o $@
$(B)/tests/traps/lib_user%.so: $(B)/tests/traps/lib_cudart%.so
$(B)/tests/traps/lib_user13.so: $(B)/tests/traps/lib_nccl.so
$(B)/tests/traps/%: tests/traps/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(filter-out -fsanitize=%,$(BASE)) $(WARN) -MF $@.d -MT $@ $< -ldl -lpthread -o $@

# What `make bench` measures with; the CUDA runtime's symbols come from what is preloaded.
$(B)/tests/bench/calls.so: tests/bench/calls.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -O2 -g -fPIC $(WARN) -shared $< -o $@

# The Python of the tests: HOOKWATCH_TORCH_PYTHON, or the environment that scripts/torch-env makes once and then only names.
TEST_ENV = HOOKWATCH_BUILD='$(abspath $(B))'
PYTEST   = python=$${HOOKWATCH_TORCH_PYTHON:-$$(scripts/torch-env)} && $(TEST_ENV) HOOKWATCH_TORCH_PYTHON="$$python" \
  PYTHONPYCACHEPREFIX='$(abspath $(B))/pycache' "$$python" -m pytest -q --tb=short -p no:cacheprovider tests $(PYTEST_ARGS)

test:
	$(Q)scripts/bootstrap
	$(Q)$(MAKE) --no-print-directory run-tests
run-tests: all $(UNIT_BIN) $(TRAP_BIN) $(TRAP_LIB)
	$(Q)failed=0; \
	tests/unit/run $(UNIT_BIN) || failed=1; \
	$(TEST_ENV) tests/traps/run $(TRAP_BIN) || failed=1; \
	{ $(PYTEST); } || failed=1; \
	scripts/check-coverage || failed=1; \
	[ $$failed = 0 ] || { echo 'make test: failed' >&2; exit 1; }
unit: $(UNIT_BIN)
	$(Q)tests/unit/run $(UNIT_BIN)
traps: all $(TRAP_BIN) $(TRAP_LIB)
	$(Q)$(TEST_ENV) tests/traps/run $(TRAP_BIN)
pytest: all $(TRAP_LIB)
	$(Q)$(PYTEST)

.PHONY: test run-tests unit traps pytest
-include $(UNIT_BIN:=.d) $(TRAP_BIN:=.d) $(TRAP_LIB:=.d)
