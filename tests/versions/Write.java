// SPDX-License-Identifier: Apache-2.0
import io.manifestcommitter.testing.SparkWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Writes through the Spark protocol, with the jar that is on the class path: {@code Write append
 * key=value... /table...}, or {@code static} or {@code dynamic}, which write to {@code location}
 * beside each table, too, and replace what is there. All tables at the same time, since jobs may
 * wait for others; names each whose write failed.
 */
public final class Write {
  private Write() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    List<Callable<Boolean>> writes = new ArrayList<>();
    for (String arg : List.of(args).subList(1, args.length)) {
      if (arg.startsWith("/")) {
        writes.add(() -> succeeds(args[0], conf, new Path("file:" + arg)));
      } else {
        String[] setting = arg.split("=", 2);
        conf.set(setting[0], setting[1]);
      }
    }
    boolean isDone = true;
    for (Future<Boolean> write : Executors.newCachedThreadPool().invokeAll(writes)) {
      isDone &= write.get();
    }
    System.exit(isDone ? 0 : 1);
  }

  private static boolean succeeds(String kind, Configuration conf, Path table) {
    try {
      write(kind, conf, table);
      return true;
    } catch (Exception e) {
      System.out.println(table + ": " + e);
      return false;
    }
  }

  private static void write(String kind, Configuration conf, Path table) throws Exception {
    Path location = new Path(table.getParent(), "location");
    SparkWrite write =
        kind.equals("append")
            ? SparkWrite.append(conf, table)
            : kind.equals("static")
                ? SparkWrite.overwrite(conf, table, table, location)
                : SparkWrite.dynamicOverwrite(conf, table);
    try {
      write.task(0, "p=1");
      if (!kind.equals("append")) {
        write.taskAt(1, location);
      }
      write.commit();
    } catch (Exception e) {
      write.abort();
      throw e;
    }
  }
}
