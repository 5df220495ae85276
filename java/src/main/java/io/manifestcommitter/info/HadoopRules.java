// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.CommandLine.Setting;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.UnsupportedScheme;
import io.manifestcommitter.config.UnknownOption;
import io.manifestcommitter.info.JobSettings.Origin;
import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.info.Problem.Severity;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.store.LakefsGateway;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;

/** What is wrong with a path, with the committer factory that is bound for it, and with options. */
final class HadoopRules extends Rules {
  private final Configuration jobs;
  private final Configuration sql;
  private final Origin origin;
  private final Path path;
  private final String scheme;
  private final FactoryBinding factory;
  private final Probe probe;
  private final SparkRules spark;
  private final Stores stores;
  private final StoreFamily family;
  private final StoreRules store;
  private final Optional<String> refusal;
  private final boolean isForSparkOnly;

  HadoopRules(JobSettings settings, Path path, Probe probe, SparkRules spark, StoreRules store) {
    this.jobs = settings.jobs(path);
    this.sql = settings.sql;
    this.origin = settings.origin;
    this.path = path;
    this.scheme = path.toUri().getScheme();
    this.factory = FactoryBinding.of(jobs, path);
    this.probe = probe;
    this.spark = spark;
    this.stores = new Stores(jobs);
    this.family = stores.family(path);
    this.store = store;
    this.refusal = stores.refusal(path).or(() -> probe.refusal);
    this.isForSparkOnly =
        stores.refusalOfRenames(path).isPresent() && stores.refusal(path).isEmpty();
  }

  /** Whether MapReduce jobs and RDD writers that write to the path are committed by us. */
  boolean serves() {
    if (refusal.isPresent() || isForSparkOnly) {
      return false;
    }
    if (probe.committer.isPresent()) {
      return isMadeByUs();
    }
    return factory.isOurs() && probe.problem.filter(name -> name.startsWith("factory-")).isEmpty();
  }

  private boolean isMadeByUs() {
    return probe.committer.filter(ClassNames.COMMITTER::equals).isPresent();
  }

  @Override
  protected void check() {
    if (refusal.isPresent()) {
      checkRefused();
    } else {
      if (stores.isLakefs(path)) {
        checkLakefs();
      } else if (isForSparkOnly) {
        checkS3();
      } else {
        checkBinding();
      }
      checkSession();
      if (!isForSparkOnly || !factory.isOurs() || stores.isLakefs(path)) {
        probe.problem.ifPresent(this::checkProbe);
      }
    }
    checkOptions();
  }

  /** The store is refused to all kinds of jobs. */
  private void checkRefused() {
    boolean delegates =
        sql.getTrimmed(CommitterConfig.UNSUPPORTED_SCHEME, "")
            .equalsIgnoreCase(UnsupportedScheme.DELEGATE.name());
    String sparks =
        delegates
            ? " is delegate: writes of Spark SQL go through Spark's own protocol, which renames"
                + " each file. Such stores do that by copying"
            : " is not delegate: writes of Spark SQL fail";
    add(
        factory.isOurs() || (spark.isOurs() && !delegates) ? Severity.ERROR : Severity.WARNING,
        "unsupported-store",
        LakefsGateway.seen(jobs, path)
            .map(api -> Repair.set(LakefsGateway.setting(path.toUri().getAuthority()), api))
            .orElseGet(() -> isServedByS3a() ? store.enableUploads() : otherStore()),
        refusal.get().replaceFirst("[.]$", ""),
        factory.isOurs()
            ? ". MapReduce jobs and RDD writers fail, since " + factory.key + " is ours"
            : "",
        spark.isOurs() ? ". " + CommitterConfig.UNSUPPORTED_SCHEME + sparks : "");
  }

  /** On S3 MapReduce jobs and RDD writers go through hadoop-aws's own committers. */
  private void checkS3() {
    if (factory.isOurs()) {
      String why = stores.refusalOfRenames(path).get().replaceFirst("[.]$", "");
      add("unsupported-store/hadoop-protocol", otherStore(), factory.key, why);
    } else if (!isServedByS3a()) {
      Severity severity = errorUnlessSparkIsServed(Severity.WARNING);
      add(severity, "no-factory/s3", otherStore(), factory.key);
    }
  }

  /** In lakeFS its API commits what Spark writes. Our factory refuses other writers. */
  private void checkLakefs() {
    if (!factory.isOurs()) {
      // The one setting of s3a is for all buckets.
      boolean isAlone = family == StoreFamily.LAKEFS;
      add(
          errorUnlessSparkIsServed(Severity.WARNING),
          "lakefs-other-writers",
          isAlone ? factory.bind(scheme, ClassNames.FACTORY) : Repair.none(),
          factory.key);
    }
    probe.lakefsRefusal.ifPresent(why -> add("lakefs-refused", nameApi(), why));
  }

  /** Gives an address of the API the end that it lacks. */
  private Repair nameApi() {
    String key = LakefsTable.endpointKey(jobs, path);
    String endpoint = jobs.getTrimmed(key, "").replaceAll("/+$", "");
    return endpoint.isEmpty() || endpoint.endsWith(LakefsGateway.API)
        ? Repair.none()
        : Repair.set(key, endpoint + LakefsGateway.API);
  }

  private void checkBinding() {
    if (probe.committer.isPresent() ? isMadeByUs() : factory.isOurs()) {
      checkOurs();
    } else if (scheme == null && !factory.isForAll()) {
      checkNoScheme();
    } else if (factory.kind().equals("none")) {
      checkFileOutputCommitter();
    } else {
      add(
          factory.kind().equals("hadoop") ? "hadoop-factory" : "other-factory",
          factory.bind(scheme, ClassNames.FACTORY),
          factory.className,
          factory.key,
          factory.setting.map(set -> set.source).orElse(""),
          siblingHint());
    }
  }

  private void checkOurs() {
    Optional<String> unbound = Stores.sibling(path).filter(sibling -> !isOurs(sibling));
    if (factory.isOurs() && factory.isForAll()) {
      add("factory-for-all", factory.bind(scheme, ClassNames.FACTORY), FactoryBinding.FOR_ALL);
    } else if (factory.isOurs() && unbound.isPresent()) {
      Repair bind = Repair.set(FactoryBinding.key(unbound.get()), ClassNames.FACTORY);
      add("half-bound", bind, scheme, unbound.get());
    }
  }

  private void checkNoScheme() {
    String left = "";
    Repair repair = Repair.none();
    try {
      repair = Repair.writeTo(path.getFileSystem(jobs).makeQualified(path).toString());
    } catch (IOException | RuntimeException e) {
      left = ". The default filesystem cannot complete it: " + message(e);
    }
    add(errorUnlessSparkIsServed(Severity.NOTE), "no-scheme", repair, left);
  }

  private void checkFileOutputCommitter() {
    int version =
        jobs.getInt(
            FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION,
            FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION_DEFAULT);
    boolean isSafe = version == 1 && family != StoreFamily.GCS;
    add(
        isSafe ? errorUnlessSparkIsServed(Severity.NOTE) : Severity.ERROR,
        isSafe ? "no-factory/safe" : version == 1 ? "no-factory/gs" : "no-factory/version-2",
        factory.bind(scheme, ClassNames.FACTORY),
        factory.setting.isEmpty()
            ? "No committer factory is bound"
            : factory.key + " binds FileOutputCommitter",
        scheme,
        siblingHint());
  }

  private void checkSession() {
    String session = FactoryBinding.of(sql, path).className;
    String key = FactoryBinding.key(scheme);
    if (!session.equals(factory.className)) {
      add("session-factory", Repair.set(key, session), session, factory.className, key);
    }
  }

  /** Why there is no committer. */
  private void checkProbe(String problem) {
    // A Connect session has no RDD writers that could meet a factory's problem.
    boolean isConnect = origin == Origin.CONNECT_SERVER;
    Severity severity = errorUnlessSparkIsServed(isConnect ? Severity.WARNING : Severity.ERROR);
    Optional<String> missing = Stores.missingClass(probe.cause);
    String cause = message(probe.cause);
    switch (problem) {
      case "factory-not-found":
        factoryNotFound(severity, missing.get());
        break;
      case "factory-failed":
        Repair repair = factory.isOurs() ? Repair.none() : bindOurs();
        add(severity, problem, repair, factory.className, cause);
        break;
      case "store-not-found":
        storeNotFound(severity, missing);
        break;
      case "store-failed":
        add(severity, problem, Repair.none(), path, cause);
        break;
      default:
        add(severity, problem, Repair.none(), path, probe.cause.getMessage());
    }
  }

  private void factoryNotFound(Severity severity, String missing) {
    String name = factory.className;
    String jar = ClassNames.jarOf(missing);
    boolean oursIsMissing = missing.equals(ClassNames.FACTORY);
    add(
        severity,
        "factory-not-found",
        oursIsMissing || name.equals(ClassNames.S3A_FACTORY)
            ? Repair.none().andJar(jar)
            : bindOurs(),
        name,
        missing.equals(name)
            ? "is not on the class path"
            : "needs " + missing + ", which is not on the class path",
        jar,
        oursIsMissing
            ? ", which has to be there when the JVM starts: Hadoop does not look into a jar that"
                + " SQL's ADD JAR brings later"
            : "");
  }

  /** Two connectors answer to gs://, and Hadoop 3.5 sets the one that hardly anybody has. */
  private void storeNotFound(Severity severity, Optional<String> missing) {
    boolean isGs = family == StoreFamily.GCS;
    String name = StoreFamily.scheme(path, jobs);
    String jar = family.connectorOf(name);
    if (!isGs && missing.isPresent()) {
      jar = ClassNames.jarOf(missing.get());
    }
    String found = "It is in " + jar;
    Repair repair = Repair.none().andJar(jar);
    if (isGs) {
      Optional<Setting> bound =
          StoreRules.fileSystem(jobs, path)
              .filter(other -> !other.value.equals(ClassNames.GOOGLES_GS));
      boolean isThere = ClassNames.loads(jobs.getClassLoader(), ClassNames.GOOGLES_GS);
      found =
          (isThere ? "Google's connector is there" : "Google's connector is in " + jar)
              + bound
                  .map(other -> "; it is used only where fs.gs.impl names it, which is " + other)
                  .orElse("");
      Repair bind = bound.isPresent() ? StoreRules.bindGoogles() : Repair.none();
      repair = isThere ? bind : bind.andJar(jar);
    }
    add(
        severity,
        "store-not-found",
        repair,
        name,
        missing.map(className -> " (" + className + " is missing)").orElse(""),
        found);
  }

  private void checkOptions() {
    boolean isFine = true;
    for (CommitterConfig.Option option : CommitterConfig.options()) {
      // Each by itself, so that all are told.
      Repair repair = Repair.set(option.key, option.fallback);
      isFine &= checkOption(repair, () -> option.read(sql));
    }
    if (isFine) {
      checkOption(Repair.none(), () -> new CommitterConfig(sql));
    }
    for (UnknownOption unknown : UnknownOption.in(sql)) {
      Repair remove = Repair.set(unknown.key, null);
      add(
          unknown.refused ? Severity.ERROR : Severity.WARNING,
          "unknown-option",
          unknown.meant.map(key -> remove.andSet(key, sql.get(unknown.key))).orElse(remove),
          unknown);
    }
  }

  private boolean checkOption(Repair repair, Runnable reading) {
    try {
      reading.run();
      return true;
    } catch (IllegalArgumentException e) {
      add("bad-option", repair, e.getMessage());
      return false;
    }
  }

  /** An error, or less if Spark SQL is served, and only other writers have the problem. */
  private Severity errorUnlessSparkIsServed(Severity less) {
    return spark.serves() ? less : Severity.ERROR;
  }

  private boolean isServedByS3a() {
    return factory.className.equals(ClassNames.S3A_FACTORY)
        && !jobs.getTrimmed("fs.s3a.committer.name", "file").equals("file");
  }

  private Repair otherStore() {
    if (family == StoreFamily.S3) {
      return factory
          .bind(StoreFamily.scheme(path, jobs), ClassNames.S3A_FACTORY)
          .andSet("fs.s3a.committer.name", "magic");
    }
    if (stores.refusal(path).isEmpty() && family == StoreFamily.OTHER) {
      String others = jobs.getTrimmed(StoreFamily.ATOMIC_RENAME_SCHEMES, "");
      return Repair.set(
          StoreFamily.ATOMIC_RENAME_SCHEMES,
          (others.isEmpty() ? "" : others + ",") + StoreFamily.scheme(path, jobs));
    }
    return Repair.writeTo(Stores.servedInstead(path).map(Path::toString).orElse(null));
  }

  /** On S3 ours is refused; there it is S3A's own that does not work as it is set. */
  private Repair bindOurs() {
    return stores.refusalOfRenames(path).isPresent()
        ? store.enableMagic()
        : factory.bind(scheme, ClassNames.FACTORY);
  }

  private String siblingHint() {
    return Stores.sibling(path)
        .filter(this::isOurs)
        .map(sibling -> " (" + sibling + ":// is bound, but the key is the literal scheme)")
        .orElse("");
  }

  private boolean isOurs(String otherScheme) {
    return FactoryBinding.setting(jobs, FactoryBinding.key(otherScheme))
        .filter(set -> set.value.equals(ClassNames.FACTORY))
        .isPresent();
  }
}
