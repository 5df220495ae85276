// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Tells lakeFS's gateway from other stores that speak S3's protocol. Behind a gateway the committer
 * uses lakeFS's API: by uploads alone a lost answer could not be resolved, nor a job rolled back.
 */
public final class LakefsGateway {
  /** What the address of the API ends with. */
  public static final String API = "/api/v1";

  /** What lakeFS answers with {@link #HEALTHY}, and to anyone; other servers know no such path. */
  private static final String HEALTH = API + "/healthcheck";

  private static final int HEALTHY = 204;
  private static final int PATIENCE_MS = 5000;
  private static final String AMAZONS = "(.*\\.)?amazonaws\\.com(\\.cn)?";

  /** Whether the server at an address is lakeFS, of those that have answered this JVM. */
  private static final Map<URI, Boolean> ANSWERED = new ConcurrentHashMap<>();

  private LakefsGateway() {}

  /** The setting that names the API of a repository that is called by the gateway. */
  public static String setting(String repository) {
    return "fs.s3a.bucket." + repository + ".lakefs.endpoint";
  }

  /**
   * Why a bucket is not served by uploads: it is behind a gateway whose API is not named. One
   * request for each endpoint of a JVM, and none to Amazon. A server that does not answer it is
   * taken for another store.
   */
  static Optional<String> shortcoming(Configuration conf, Path path) {
    Optional<URI> endpoint = endpoint(conf, path);
    endpoint.ifPresent(LakefsGateway::look);
    return seen(conf, path)
        .map(
            api ->
                "its endpoint "
                    + endpoint.get()
                    + " is a gateway of lakeFS. There, uploads alone leave open what became of a job"
                    + " when an answer is lost or its driver dies. Set "
                    + setting(path.toUri().getAuthority())
                    + " to the address of lakeFS's API, such as "
                    + api
                    + ": then the API commits.");
  }

  /** The API of a gateway that was seen to be one, and is not named yet. No request. */
  public static Optional<String> seen(Configuration conf, Path path) {
    return endpoint(conf, path)
        .filter(endpoint -> ANSWERED.getOrDefault(endpoint, false))
        .map(endpoint -> endpoint + API);
  }

  /** Where a gateway would be; empty if it cannot be one, or its API is named. */
  private static Optional<URI> endpoint(Configuration conf, Path path) {
    String bucket = String.valueOf(path.toUri().getAuthority());
    String set = StoreFamily.s3aSetting(conf, bucket, "fs.s3a.endpoint", "");
    if (set.isEmpty() || !conf.getTrimmed(setting(bucket), "").isEmpty()) {
      return Optional.empty();
    }
    boolean isPlain =
        StoreFamily.s3aSetting(conf, bucket, "fs.s3a.connection.ssl.enabled", "true")
            .equals("false");
    String url = set.contains("://") ? set : (isPlain ? "http://" : "https://") + set;
    try {
      URI endpoint = URI.create(url.replaceAll("/+$", ""));
      return Optional.of(endpoint)
          .filter(uri -> uri.getHost() != null && !uri.getHost().matches(AMAZONS));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // S3A says what is wrong with it.
    }
  }

  private static void look(URI endpoint) {
    if (ANSWERED.containsKey(endpoint)) {
      return;
    }
    try {
      HttpURLConnection asked =
          (HttpURLConnection) URI.create(endpoint + HEALTH).toURL().openConnection();
      asked.setConnectTimeout(PATIENCE_MS);
      asked.setReadTimeout(PATIENCE_MS);
      asked.setInstanceFollowRedirects(false);
      ANSWERED.put(endpoint, asked.getResponseCode() == HEALTHY);
      asked.disconnect();
    } catch (IOException | ClassCastException e) {
      // Not known. Whatever keeps it from answering fails the job's own requests, too.
    }
  }
}
