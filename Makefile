# A thin front for meson and the scripts in tools/. `make run` and `make test` need nothing before them on Debian 12.
BUILD = build
TIME = 60
export TIME QUICK BUILD ONLY JOBS UNTIL

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

# Tests are built where what they need is there; `make test` sees to it.
$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: run make deps" >&2; exit 4; }
	@meson setup $(BUILD) -Dtests=$$(pkg-config --exists cmocka jansson gumbo && echo true || echo false) >/dev/null

deps:
	@tools/install-packages build

deps-dev:
	@tools/install-packages build dev deb

# `make run` crawls a sample web that the program serves to itself and shows the search page; `make run URL=https://...` does it with a
# real site, into ./orb-data. Ctrl-C ends the crawl first, then the page.
run: deps
	@$(MAKE) --no-print-directory all
	@if [ -n "$(URL)" ]; then $(BUILD)/src/cli/orb crawl "$(URL)" || [ $$? = 1 ] && $(BUILD)/src/cli/orb serve; else $(BUILD)/src/cli/orb demo; fi

test: deps-dev
	@tools/run-tests

test-full: deps-dev bench-data
	@FULL=1 tools/run-tests

bench: deps-dev all
	@bench/run

# Scenarios of lab/scenarios: a short form of each in under 4 minutes; all of them in 40, for docs/results.md.
lab: deps-dev all
	@tools/run-lab short

lab-full: deps-dev all
	@tools/run-lab full

# Every figure of docs/results.md, and the file. WORLDS=DIR: with worlds from outside.
results: deps-dev all
	@bench/run; code=$$?; tools/run-lab full || code=$$?; bench/results && exit $$code

bench-data: deps-dev
	@bench/fetch-data

lint: deps-dev all
	@tools/lint

fuzz: deps-dev
	@tools/run-fuzz

format:
	@find src lab tests bench -name '*.[ch]' ! -name '*_table.h' -exec clang-format -i {} +

sample-config: all
	@$(BUILD)/src/cli/orb config --sample >data/orb.conf.sample
	@$(BUILD)/src/agent/orb-agent --sample-config >data/agent.conf.sample

# Debian packages, orb-agent's and orb's, into build-deb/.
deb:
	@tools/install-packages build deb
	@tools/make-deb

install: all
	@meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf build build-asan build-fuzz build-deb

.PHONY: all deps deps-dev run test test-full bench lab lab-full results bench-data lint fuzz format sample-config deb install clean
