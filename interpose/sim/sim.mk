# The simulated CUDA and NCCL stack: one shared object per row of libraries.tsv, and the Python side of value mode.
SIM     = interpose/sim
SIM_LIB = $(B)/lib/sim
SIM_GEN = $(B)/sim
SIM_SO := $(shell awk -F'\t' '!/^\#/ && NF > 3 { print $$1 }' $(SIM)/libraries.tsv)
sim_sources = $(shell awk -F'\t' '$$1 == "$(1)" && $$4 != "-" { print $$4 }' $(SIM)/libraries.tsv)

sim: $(SIM_SO:%=$(SIM_LIB)/%)

SIM_FLAGS = $(filter-out -fsanitize=%,$(BASE)) -Wno-missing-field-initializers

$(SIM_GEN)/%.o: $(SIM)/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(SIM_FLAGS) $(WARN) -c $< -o $@
$(SIM_GEN)/%.gen.c: $(SIM)/libraries.tsv $(SIM)/symbols.tsv $(SIM)/gen.awk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && awk -v what=c -v soname=$* -f $(SIM)/gen.awk $(SIM)/libraries.tsv $(SIM)/symbols.tsv > $@.new && mv $@.new $@
$(SIM_GEN)/%.gen.o: $(SIM_GEN)/%.gen.c
	$(call say,CC,$<)
	$(Q)$(CC) $(SIM_FLAGS) $(WARN) -Wno-unused-parameter -c $< -o $@
$(SIM_GEN)/%.map: $(SIM)/libraries.tsv $(SIM)/symbols.tsv $(SIM)/gen.awk
	$(Q)mkdir -p $(@D) && awk -v what=map -v soname=$* -f $(SIM)/gen.awk $(SIM)/libraries.tsv $(SIM)/symbols.tsv > $@.new && mv $@.new $@

# Every library but the runtime itself stands on the runtime. $(1) is a SONAME.
define sim_library
$(SIM_LIB)/$(1): $$(patsubst %.c,$(SIM_GEN)/%.o,$$(call sim_sources,$(1))) $(SIM_GEN)/$(1).gen.o $(SIM_GEN)/$(1).map $(if $(filter libcudart.%,$(1)),,$(SIM_LIB)/libcudart.so.13)
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D) && $(CC) -shared $(LDFLAGS) -Wl,-soname,$(1) -Wl,-rpath,'$$$$ORIGIN' -Wl,--no-undefined -Wl,--version-script=$(SIM_GEN)/$(1).map $$(filter-out %.map,$$^) -lm -o $$@
endef
$(foreach so,$(SIM_SO),$(eval $(call sim_library,$(so))))
.PRECIOUS: $(SIM_GEN)/%.gen.c $(SIM_GEN)/%.map $(SIM_GEN)/%.o

SIM_PY = $(wildcard $(SIM)/python/*.py $(SIM)/python/*/*.py)
python: $(SIM_PY:$(SIM)/python/%=$(SIM_LIB)/python/%)
$(SIM_LIB)/python/%: $(SIM)/python/%
	$(call say,COPY,$@)
	$(Q)mkdir -p $(@D) && cp $< $@

-include $(wildcard $(SIM_GEN)/*.d)
