# Every word below works on a machine that has only Python, pip and make: it builds .venv first where that is needed.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# Where this is set, every process of the tests would compile all files again.
unexport PYTHONDONTWRITEBYTECODE
# uv installs in a quarter of the time that pip takes; where it fails, pip installs, and says why if it fails, too.
# Files are copied, because nltk, of LlamaIndex, refuses to read files that are hard links.
UV = $(PY) -m pip install -q --disable-pip-version-check uv && $(PY) -m uv pip install -q --link-mode copy --python $(PY)
INSTALL = install() { { $(UV) "$$@"; } || $(PY) -m pip install -q "$$@"; }; install
# What builds the kernels stays in .venv, because an editable installation compiles them again after an edit.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
BUILD := cython meson-python meson ninja setuptools wheel
# Without a compiler, that of the package ziglang is used; its first run prepares libraries of its own, for a minute.
COMPILER := $(if $(filter environment,$(origin CXX)),$(CXX),$(shell command -v c++ || command -v g++ || command -v clang++))
ZIG := $(CURDIR)/$(PY) -m ziglang
WITH_ZIG := export CC="$(ZIG) cc" CXX="$(ZIG) c++" AR="$(ZIG) ar" &&
EDITABLE = $(INSTALL) $(BUILD) $(if $(COMPILER),,ziglang) && $(if $(COMPILER),,$(WITH_ZIG)) install --no-build-isolation -e
# uv leaves libraries without bytecode. Compiling those that commands load takes 3 s, all of .integrations 20 s.
LIBRARIES := numpy scipy polars typer rich markdown_it pygments
BYTECODE = $(PY) -m compileall -q -j 0 src $(LIBRARIES:%=$(VENV)/lib/python3*/site-packages/%)
# One process more than there are cores: many tests wait for processes and servers.
PYTEST = $(PY) -m pytest -q -n $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")

.PHONY: demo test quick lint types oldest wheel extras attack same bench load reproduce docs picture pictures browser java nginx peers stubs changelog clean
demo: $(VENV)/.demo
	$(VENV)/bin/juryrank demo

# Kernels run a second time uncompiled: real tracebacks, and bounds are checked. What calls ranx, which compiles itself
# for minutes, runs only without that.
RANX := tests/files/test_python_libraries_ranx.py tests/studies/test_speed_of_fusion.py docs/integrations/experiments.md
test: $(VENV)/.integrations browser java nginx peers lint types
	UNCOMPILED_KERNELS=1 $(PYTEST) tests/kernels
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(RANX)
	$(PYTEST) $(RANX:%=--ignore=%)

# What takes long is left out (tests/slow_tests.py), plugins that it alone needs, too, and properties are checked on fewer
# examples.
quick: lint
	$(PY) -m pytest -q -n auto -m "not slow" -p no:schemathesis --hypothesis-profile=quick tests

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/typos

types: $(VENV)/.dev
	$(VENV)/bin/mypy

# The oldest versions of all dependencies that pyproject.toml allows, in an environment of their own.
OLDEST := build/oldest
oldest: $(VENV)/.dev
	$(PY) -m pip install -q --disable-pip-version-check uv
	rm -rf $(OLDEST)
	$(PY) -m venv --without-pip $(OLDEST)
	$(PY) -m uv pip install -q --resolution lowest-direct --python $(OLDEST)/bin/python -r pyproject.toml --extra dev
	$(PY) -m uv pip install -q --no-deps --python $(OLDEST)/bin/python .
	$(OLDEST)/bin/python -m pytest -q -p no:cacheprovider tests/cli/test_main.py tests/cli/test_fuse.py tests/cli/test_evaluate.py \
	  tests/kernels tests/tasks/fuse tests/test_forks.py tests/server/test_shutdown.py tests/server/test_faults.py

# A source distribution, and from it a wheel for Linux that every Python from 3.11 on can use: repaired, checked, and tried
# in an empty environment with each Python that there is.
wheel: $(VENV)/.dev
	$(PY) tests/wheel.py

# The examples of every page of docs/integrations, each in a new environment with what the page says to install.
extras: $(VENV)/.demo
	$(PY) tests/extras.py

# What damages, injects, kills and forks, with large counts.
attack: $(VENV)/.dev
	$(PY) tests/attack.py

# Whether users get what they got: digests of models, runs, reports, exports, pages and answers. Two minutes; after a change
# that is meant: $(PY) tests/same.py --record. With --keep FOLDER, everything that is compared is written there.
same: $(VENV)/.dev
	$(PY) tests/same.py

bench: $(VENV)/.bench
	$(PY) -m studies bench --out build/bench

# The service under 20, 50 and 80 % of its capacity, for ten minutes; fails if there are errors, or memory grows.
load: $(VENV)/.dev
	$(PY) -m studies load

reproduce: $(VENV)/.dev
	$(PY) -m studies reproduce --data ../shared/data --out build/reproduced

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

picture: $(VENV)/.demo
	$(PY) docs/picture.py

# Pictures of the studio's page, in Chromium.
pictures: $(VENV)/.dev browser
	$(PY) docs/studio_pictures.py

# The type stub of the package, from the table of public names.
stubs: $(VENV)/.dev
	mkdir -p build && $(PY) tests/stubs.py > build/__init__.pyi && mv build/__init__.pyi src/juryrank/__init__.pyi

changelog: $(VENV)/.dev
	$(VENV)/bin/towncrier build --yes

clean:
	rm -rf $(VENV) site

# Debian's Python has no ensurepip; there the pip outside puts one in.
$(PY):
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(PY) install -q pip; }

$(VENV)/.demo: pyproject.toml | $(PY)
	$(EDITABLE) .
	$(BYTECODE)
	touch $@

# The frameworks and engines that integrations are tested with; without them, these tests skip.
$(VENV)/.integrations: pyproject.toml | $(PY)
	$(EDITABLE) '.[dev,integrations-test]'
	$(BYTECODE)
	touch $(VENV)/.dev $@

# Debian's Chromium, for the tests of the studio's page; installed only as root. Without it they skip, so no error here.
BROWSER := chromium fonts-noto-core
browser:
	@command -v chromium > /dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq > /dev/null \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(BROWSER) > /dev/null; } || true
	@command -v chromium > /dev/null || \
	  echo "*** NO CHROMIUM: THE TESTS OF THE STUDIO'S PAGE ARE SKIPPED. As root: apt-get install $(BROWSER) ***"

# Debian's Java, for the tests of Spark; installed only as root. Without it they skip, so no error here.
JAVA := openjdk-17-jre-headless
java:
	@[ -n "$$JAVA_HOME" ] || command -v java > /dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq > /dev/null \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(JAVA) > /dev/null; } || true
	@[ -n "$$JAVA_HOME" ] || command -v java > /dev/null || \
	  echo "*** NO JAVA: THE TESTS OF SPARK ARE SKIPPED. As root: apt-get install $(JAVA) ***"

# Debian's nginx, for the test of the service behind it; unpacked, because its installation would start a server.
NGINX := build/nginx
HAVE_NGINX = command -v nginx > /dev/null || [ -x /usr/sbin/nginx ] || [ -x $(NGINX)/usr/sbin/nginx ]
nginx:
	@$(HAVE_NGINX) || { mkdir -p $(NGINX) && cd $(NGINX) \
	  && { [ "$$(id -u)" != 0 ] || apt-get update -qq; } && apt-get download -qq nginx && dpkg -x nginx_*.deb .; } > /dev/null 2>&1 || true
	@$(HAVE_NGINX) || echo "*** NO NGINX: THE TEST OF THE SERVICE BEHIND IT IS SKIPPED. As root: apt-get install nginx ***"

# Libraries that results are compared with and that ask for old versions of what we use, or for much that the tests do not
# need; they are installed alone, in a folder of their own. Without them these tests skip, so no error here.
PEERS := build/peers
peers: $(VENV)/.dev
	@cmp -s tests/peers.txt $(PEERS)/peers.txt || { rm -rf $(PEERS) && \
	  $(PY) -m pip install -q --disable-pip-version-check --no-deps --target $(PEERS) -r tests/peers.txt && cp tests/peers.txt $(PEERS); } || \
	  echo "*** NO PEERS: NOTHING IS COMPARED WITH THE LIBRARIES OF tests/peers.txt, WHICH PIP COULD NOT INSTALL ***"

$(VENV)/.dev $(VENV)/.bench $(VENV)/.docs: $(VENV)/.%: pyproject.toml | $(PY)
	$(EDITABLE) '.[$*]'
	$(BYTECODE)
	touch $@
