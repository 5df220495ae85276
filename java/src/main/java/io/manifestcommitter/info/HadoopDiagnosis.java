// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.UnsupportedScheme;
import io.manifestcommitter.config.CommitterOption;
import io.manifestcommitter.info.JobSettings.Origin;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;

/** What is wrong with a path, and with the committer factory that is bound for it. */
final class HadoopDiagnosis {
  private final Configuration jobs;
  private final Configuration sql;
  private final Origin origin;
  private final Path path;
  private final String scheme;
  private final FactoryBinding factory;
  private final Probed probed;
  private final SparkDiagnosis spark;

  HadoopDiagnosis(JobSettings settings, Path path, Probed probed, SparkDiagnosis spark) {
    this.jobs = settings.jobs(path);
    this.sql = settings.sql();
    this.origin = settings.origin();
    this.path = path;
    this.scheme = path.toUri().getScheme();
    this.factory = FactoryBinding.of(jobs, path);
    this.probed = probed;
    this.spark = spark;
  }

  /** Whether MapReduce jobs and RDD writers that write to the path are committed by us. */
  boolean serves() {
    if (refusal().isPresent() || isServedBySparkProtocolOnly()) {
      return false;
    }
    if (probed.committer().isPresent()) {
      return probed.committer().get().equals(ClassNames.COMMITTER);
    }
    return ClassNames.isOurFactory(factory.className())
        && probed
            .problem()
            .filter(
                problem ->
                    problem.code() == ProblemCode.FACTORY_NOT_FOUND
                        || problem.code() == ProblemCode.FACTORY_FAILED)
            .isEmpty();
  }

  /** All that is wrong. */
  List<Problem> problems() {
    List<Problem> problems = new ArrayList<>();
    if (refusal().isPresent()) {
      unsupported(refusal().get()).ifPresent(problems::add);
    } else if (isServedBySparkProtocolOnly()) {
      otherCommitters().ifPresent(problems::add);
      sessionFactory().ifPresent(problems::add);
      if (!ClassNames.isOurFactory(factory.className())) {
        probed.problem().map(this::asBadAsItIs).ifPresent(problems::add);
      }
    } else {
      bindingProblem().ifPresent(problems::add);
      forAll().ifPresent(problems::add);
      halfBound().ifPresent(problems::add);
      sessionFactory().ifPresent(problems::add);
      probed.problem().map(this::asBadAsItIs).ifPresent(problems::add);
    }
    List<Problem> options = badOptions();
    if (options.isEmpty()) {
      wrongStoreClass().ifPresent(problems::add);
    }
    problems.addAll(options);
    return problems;
  }

  /** A Connect session has no RDD writers that could meet a factory's problem. */
  private Problem asBadAsItIs(Problem problem) {
    return origin == Origin.CONNECT_SERVER && spark.serves()
        ? Problem.warning(problem.code(), problem.text(), problem.repair())
        : problem;
  }

  private Optional<String> refusal() {
    return new Stores(jobs).refusal(path).or(probed::refusal);
  }

  private boolean isServedBySparkProtocolOnly() {
    Stores stores = new Stores(jobs);
    return stores.refusalOfRenames(path).isPresent() && stores.refusal(path).isEmpty();
  }

  /** On S3 MapReduce jobs and RDD writers go through hadoop-aws's own committers. */
  private Optional<Problem> otherCommitters() {
    if (servedByS3a()) {
      return Optional.empty();
    }
    boolean factoryOurs = ClassNames.isOurFactory(factory.className());
    String text =
        factoryOurs
            ? "MapReduce jobs and RDD writers fail, since "
                + factory.key()
                + " is ours. "
                + withoutStop(new Stores(jobs).refusalOfRenames(path).get())
            : "MapReduce jobs and RDD writers use FileOutputCommitter, or one that renames, on"
                + " S3. That copies each file, and a job that fails may leave some of them. "
                + factory.key()
                + " does not name S3A's own committers, or fs.s3a.committer.name is file";
    return Optional.of(
        new Problem(
            factoryOurs || !spark.serves() ? Severity.ERROR : Severity.WARNING,
            factoryOurs ? ProblemCode.UNSUPPORTED_STORE : ProblemCode.NO_FACTORY,
            text,
            otherStore()));
  }

  private Optional<Problem> unsupported(String refusal) {
    boolean factoryOurs = ClassNames.isOurFactory(factory.className());
    List<String> sentences = new ArrayList<>();
    sentences.add(withoutStop(refusal));
    if (factoryOurs) {
      sentences.add("MapReduce jobs and RDD writers fail, since " + factory.key() + " is ours");
    }
    boolean fails = factoryOurs;
    if (spark.isOurs()) {
      boolean delegates = delegates();
      fails |= !delegates;
      sentences.add(
          CommitterConfig.UNSUPPORTED_SCHEME
              + (delegates
                  ? " is delegate: writes of Spark SQL go through Spark's own protocol, which renames"
                      + " each file. Such stores do that by copying"
                  : " is not delegate: writes of Spark SQL fail"));
    }
    return Optional.of(
        new Problem(
            fails ? Severity.ERROR : Severity.WARNING,
            ProblemCode.UNSUPPORTED_STORE,
            String.join(". ", sentences),
            servedByS3a()
                ? S3Diagnosis.enableUploads(jobs, String.valueOf(path.toUri().getAuthority()))
                : otherStore()));
  }

  private boolean servedByS3a() {
    return factory.className().equals(ClassNames.S3A_FACTORY)
        && !jobs.getTrimmed("fs.s3a.committer.name", "file").equals("file");
  }

  private boolean delegates() {
    String value = sql.getTrimmed(CommitterConfig.UNSUPPORTED_SCHEME, "");
    return value.equalsIgnoreCase(UnsupportedScheme.DELEGATE.name());
  }

  private Repair otherStore() {
    String name = scheme == null ? FileSystem.getDefaultUri(jobs).getScheme() : scheme;
    if (new Stores(jobs).family(path) == StoreFamily.S3) {
      Repair s3a =
          Repair.set(FactoryBinding.key(name), ClassNames.S3A_FACTORY)
              .andSet("fs.s3a.committer.name", "magic");
      return factory.isForAll() ? s3a.andSet(FactoryBinding.FOR_ALL, "") : s3a;
    }
    Stores stores = new Stores(jobs);
    if (stores.refusal(path).isEmpty() && stores.family(path) == StoreFamily.OTHER) {
      String others = jobs.getTrimmed(StoreFamily.ATOMIC_RENAME_SCHEMES, "");
      return Repair.set(
          StoreFamily.ATOMIC_RENAME_SCHEMES, others.isEmpty() ? name : others + "," + name);
    }
    return Stores.servedInstead(path)
        .map(served -> Repair.writeTo(served.toString()))
        .orElse(Repair.none());
  }

  private Optional<Problem> bindingProblem() {
    String name = factory.className();
    boolean ours =
        probed.committer().map(ClassNames.COMMITTER::equals).orElse(ClassNames.isOurFactory(name));
    if (ours) {
      return Optional.empty();
    }
    if (scheme == null && !factory.isForAll()) {
      return Optional.of(noScheme());
    }
    if (factory.setting().isEmpty() || ClassNames.isFileOutputFactory(name)) {
      return Optional.of(noFactory());
    }
    boolean hadoops = ClassNames.isHadoopsFactory(name);
    return Optional.of(
        Problem.warning(
            hadoops ? ProblemCode.HADOOP_FACTORY : ProblemCode.OTHER_FACTORY,
            "MapReduce jobs and RDD writers use "
                + (hadoops ? "Hadoop's own manifest committer" : "another committer")
                + ", through "
                + name
                + ": "
                + factory.key()
                + " is set by "
                + factory.setting().map(Setting::source).orElse("")
                + siblingHint(),
            factory.bindOurs(scheme)));
  }

  private Problem noScheme() {
    String text =
        "The path has no scheme. Spark's RDD writers look for the factory of the literal scheme,"
            + " here "
            + factory.key()
            + ", find none and use FileOutputCommitter. Spark SQL, and jobs that set their output"
            + " path through FileOutputFormat, complete the path first";
    Repair repair = Repair.none();
    try {
      repair = Repair.writeTo(path.getFileSystem(jobs).makeQualified(path).toString());
    } catch (IOException | RuntimeException e) {
      text += ". The default filesystem cannot complete it: " + Causes.message(e);
    }
    return new Problem(
        spark.serves() ? Severity.WARNING : Severity.ERROR, ProblemCode.NO_SCHEME, text, repair);
  }

  private Problem noFactory() {
    int version =
        jobs.getInt(
            FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION,
            FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION_DEFAULT);
    boolean unsafe = version != 1 || new Stores(jobs).family(path) == StoreFamily.GCS;
    String consequence;
    if (version != 1) {
      consequence =
          "version 2, which is unsafe on every store: what a task attempt had published before it"
              + " failed stays in the table";
    } else if (unsafe) {
      consequence =
          "version 1, which is unsafe on gs: it relies on renames of directories being atomic";
    } else {
      consequence = "version 1: safe there, but it publishes one file after the other";
    }
    return new Problem(
        unsafe || !spark.serves() ? Severity.ERROR : Severity.WARNING,
        ProblemCode.NO_FACTORY,
        (factory.setting().isEmpty()
                ? "No committer factory is bound for " + scheme + "://"
                : factory.key() + " binds FileOutputCommitter for " + scheme + "://")
            + siblingHint()
            + ". MapReduce jobs and RDD writers such as saveAsNewAPIHadoopFile use"
            + " FileOutputCommitter, algorithm "
            + consequence,
        factory.bindOurs(scheme));
  }

  private String siblingHint() {
    return Stores.sibling(path)
        .filter(this::isOurs)
        .map(sibling -> " (" + sibling + ":// is bound, but the key is the literal scheme)")
        .orElse("");
  }

  private Optional<Problem> forAll() {
    if (!factory.isForAll() || !ClassNames.isOurFactory(factory.className())) {
      return Optional.empty();
    }
    return Optional.of(
        Problem.warning(
            ProblemCode.FACTORY_FOR_ALL,
            FactoryBinding.FOR_ALL
                + " binds our committer for every scheme: MapReduce jobs that write to s3a or wasb fail",
            factory.bindOurs(scheme)));
  }

  private Optional<Problem> halfBound() {
    if (factory.isForAll() || !ClassNames.isOurFactory(factory.className())) {
      return Optional.empty();
    }
    return Stores.sibling(path)
        .filter(sibling -> !isOurs(sibling))
        .map(
            sibling ->
                Problem.warning(
                    ProblemCode.HALF_BOUND,
                    scheme
                        + ":// is bound, but "
                        + sibling
                        + ":// is not, which reaches the same store: the key is the literal scheme",
                    Repair.set(FactoryBinding.key(sibling), ClassNames.FACTORY)));
  }

  private boolean isOurs(String otherScheme) {
    return FactoryBinding.setting(jobs, FactoryBinding.key(otherScheme))
        .map(Setting::value)
        .filter(ClassNames::isOurFactory)
        .isPresent();
  }

  private Optional<Problem> sessionFactory() {
    String session = FactoryBinding.of(sql, path).className();
    if (session.equals(factory.className())) {
      return Optional.empty();
    }
    return Optional.of(
        Problem.warning(
            ProblemCode.SESSION_FACTORY,
            "In this session the factory is "
                + session
                + ", but RDD writers do not see the session's settings: they use "
                + factory.className()
                + ". Make the setting where Spark starts, as spark.hadoop."
                + FactoryBinding.key(scheme),
            Repair.set(FactoryBinding.key(scheme), session)));
  }

  /** Each by itself, so that all are told. */
  private List<Problem> badOptions() {
    List<Problem> problems = new ArrayList<>();
    for (CommitterOption option : CommitterConfig.options()) {
      String value = sql.get(option.key());
      if (value == null) {
        continue;
      }
      Configuration alone = new Configuration(false);
      alone.set(option.key(), value);
      try {
        new CommitterConfig(alone);
      } catch (IllegalArgumentException e) {
        problems.add(
            Problem.error(
                ProblemCode.BAD_OPTION,
                e.getMessage() + ". Jobs fail when they start",
                Repair.set(option.key(), option.fallback())));
      }
    }
    return problems;
  }

  /** Like a job when it starts, so for a store that could be opened only. */
  private Optional<Problem> wrongStoreClass() {
    if (probed.committer().filter(ClassNames.COMMITTER::equals).isEmpty()) {
      return Optional.empty();
    }
    Stores stores = new Stores(jobs);
    try {
      stores.requireClassFor(new CommitterConfig(jobs).storeClass(), stores.resolve(path));
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of(
          Problem.error(
              ProblemCode.BAD_OPTION,
              e.getMessage() + ". Jobs fail when they start",
              Repair.set(CommitterConfig.STORE_OPERATIONS_CLASS, "")));
    } catch (IOException e) {
      return Optional.empty(); // The committer did open it: the store fails now and then.
    }
  }

  private static String withoutStop(String sentence) {
    return sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
  }
}
