// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.RequestKind;
import io.manifestcommitter.store.Retries;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import org.apache.hadoop.util.functional.CallableRaisingIOE;

/**
 * A server's REST API, version 1, with basic authentication. Safe for use by many threads. The
 * requests pass a {@link RequestGate}, which makes refused ones (429, 503) again.
 */
public final class LakefsServer {
  /** Longer than a merge of many files takes. After it the outcome of a request is unknown. */
  static final Duration TIMEOUT = Duration.ofMinutes(2);

  private static final int TRIES = 4;
  private static final int FIRST_PAUSE = 200;
  private static final int LONGEST_MESSAGE = 500;

  /** Its threads are daemons, so one client is enough. */
  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(20))
          .build();

  /** The endpoint of its API, such as {@code https://lakefs.example.com/api/v1}. */
  public final URI endpoint;

  private final String credentials;
  private final RequestGate gate;

  /**
   * A server.
   *
   * @param credentials access key and secret key, with a colon between them
   */
  LakefsServer(URI endpoint, String credentials, RequestGate gate) {
    this.endpoint = endpoint;
    this.credentials = credentials;
    this.gate = gate;
  }

  /** The same, past the limits on the job's requests. */
  LakefsServer pastLimits() {
    return new LakefsServer(endpoint, credentials, RequestGate.urgent());
  }

  /** A text as one component of a path, or as a parameter. */
  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /**
   * Makes a request once: the caller knows what a lost answer means.
   *
   * @param path below the endpoint, encoded
   * @param body the bytes of an object, what becomes JSON, or null for none
   * @throws LakefsException if it is answered with an error
   * @throws IOException if its outcome is not known
   */
  byte[] once(RequestKind kind, String method, String path, Object body) throws IOException {
    boolean isObject = body instanceof byte[];
    byte[] plain = credentials.getBytes(StandardCharsets.UTF_8);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(endpoint + path))
            .timeout(TIMEOUT)
            .header("Authorization", "Basic " + Base64.getEncoder().encodeToString(plain))
            .header("Content-Type", isObject ? "application/octet-stream" : "application/json")
            .method(
                method,
                body == null
                    ? BodyPublishers.noBody()
                    : BodyPublishers.ofByteArray(isObject ? (byte[]) body : Record.toJson(body)))
            .build();
    String name = method + " " + path.replaceFirst("\\?.*", "");
    return gate.pass(kind, path, () -> send(request, name)).body();
  }

  /**
   * As {@link #once}, again if it fails: for a request that does the same as often as it is made.
   */
  byte[] repeated(RequestKind kind, String method, String path, Object body) throws IOException {
    return told(() -> once(kind, method, path, body), LakefsServer::again);
  }

  /** Makes a request to a presigned URL, which needs no credentials; again if that fails. */
  HttpResponse<byte[]> presigned(HttpRequest request) throws IOException {
    String name = request.method() + " of a presigned URL of " + request.uri().getHost();
    return told(
        () -> gate.passLong(RequestKind.UPLOAD, request.uri().getPath(), () -> send(request, name)),
        LakefsServer::again);
  }

  /**
   * Makes a request of which a failure does not tell whether it was done.
   *
   * @param look after a failure: gives what the request would have, or nothing if it may be made
   *     again, or throws what ends this
   */
  static <T> T told(CallableRaisingIOE<T> request, Look<T> look) throws IOException {
    for (int time = 1; ; time++) {
      try {
        return request.apply();
      } catch (IOException e) {
        Optional<T> done = look.after(e);
        if (done.isPresent()) {
          return done.get();
        }
        if (time == TRIES) {
          throw e;
        }
        Retries.pause(FIRST_PAUSE << time);
      }
    }
  }

  /** What became of a request that failed. */
  interface Look<T> {
    Optional<T> after(IOException failure) throws IOException;
  }

  /** Nothing, or the failure, if the same request would not be served a little later either. */
  static <T> Optional<T> again(IOException failure) throws IOException {
    int status = status(failure);
    boolean mayPass = status == 0 ? !(failure instanceof InterruptedIOException) : status >= 500;
    if (!mayPass || status == 501) {
      throw failure;
    }
    return Optional.empty();
  }

  /** The status of an answer; 0 if there was none. */
  static int status(IOException failure) {
    return failure instanceof LakefsException ? ((LakefsException) failure).status : 0;
  }

  private HttpResponse<byte[]> send(HttpRequest request, String name) throws IOException {
    HttpResponse<byte[]> response;
    try {
      response = CLIENT.send(request, BodyHandlers.ofByteArray());
    } catch (ConnectException e) {
      String asked = request.uri().getAuthority();
      throw new IOException(
          asked.equals(endpoint.getAuthority())
              ? "lakeFS does not answer at " + endpoint + ": is fs.lakefs.endpoint right?"
              : "The store behind lakeFS does not answer at "
                  + asked
                  + ", where its presigned URLs lead. Executors have to reach it",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Interrupted in a request to " + endpoint);
    }
    if (response.statusCode() / 100 != 2) {
      String text = new String(response.body(), StandardCharsets.UTF_8).trim();
      throw new LakefsException(
          response.statusCode(), name, text.substring(0, Math.min(text.length(), LONGEST_MESSAGE)));
    }
    return response;
  }

  /** An error that the server answered. */
  public static final class LakefsException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;

    LakefsException(int status, String request, String message) {
      super("lakeFS answered " + status + " to " + request + ": " + message + advice(status));
      this.status = status;
    }

    private static String advice(int status) {
      switch (status) {
        case 401:
          return ". Check fs.lakefs.access.key and fs.lakefs.secret.key";
        case 410:
          return ". The repository is being deleted";
        default:
          return "";
      }
    }

    /** The status of the answer. */
    public int getStatusCode() {
      return status;
    }
  }
}
