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
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.hadoop.util.functional.CallableRaisingIOE;

/**
 * A server's REST API, version 1, with basic authentication. Safe for use by many threads. The
 * requests pass a {@link RequestGate}, which makes refused ones (429, 503) again.
 */
public final class LakefsServer {
  /** Longer than a merge of many files takes. After it the outcome of a request is unknown. */
  static final Duration TIMEOUT = Duration.ofMinutes(2);

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(20);
  private static final int TRIES = 4;
  private static final int FIRST_PAUSE = 200;
  private static final int LONGEST_MESSAGE = 500;

  private final URI endpoint;
  private final String authorization;
  private final RequestGate gate;

  /** The threads of a client are daemons, so one is enough. */
  private static final class Shared {
    static final HttpClient CLIENT =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();
  }

  /**
   * A server.
   *
   * @param endpoint of its API, such as {@code https://lakefs.example.com/api/v1}
   */
  LakefsServer(URI endpoint, String accessKey, String secretKey, RequestGate gate) {
    this(endpoint, basic(accessKey + ":" + secretKey), gate);
  }

  private static String basic(String credentials) {
    byte[] plain = credentials.getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(plain);
  }

  private LakefsServer(URI endpoint, String authorization, RequestGate gate) {
    this.endpoint = endpoint;
    this.authorization = authorization;
    this.gate = gate;
  }

  /** The same, past the limits on the job's requests. */
  LakefsServer pastLimits() {
    return new LakefsServer(endpoint, authorization, RequestGate.urgent());
  }

  /** The endpoint of its API. */
  public URI endpoint() {
    return endpoint;
  }

  /** A text as one component of a path, or as a parameter. */
  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /**
   * Makes a request once: the caller knows what a lost answer means.
   *
   * @param path below the endpoint, encoded
   * @throws LakefsException if it is answered with an error
   * @throws IOException if its outcome is not known
   */
  byte[] once(RequestKind kind, String method, String path, Object body) throws IOException {
    byte[] json = body == null ? new byte[0] : Record.toJson(body);
    return gate.pass(kind, path, () -> send(request(method, path, json, "application/json")));
  }

  /**
   * As {@link #once}, again if it fails: for a request that does the same as often as it is made.
   */
  byte[] repeated(RequestKind kind, String method, String path, Object body) throws IOException {
    return repeat(() -> once(kind, method, path, body));
  }

  /** Uploads the content of a small object, again if that fails. */
  byte[] upload(String path, byte[] content) throws IOException {
    return repeat(
        () ->
            gate.pass(
                RequestKind.WRITE,
                path,
                () -> send(request("POST", path, content, "application/octet-stream"))));
  }

  /** Makes a request to a presigned URL, which needs no credentials; again if that fails. */
  HttpResponse<byte[]> presigned(HttpRequest request) throws IOException {
    return repeat(
        () ->
            gate.passLong(
                RequestKind.UPLOAD,
                request.uri().getPath(),
                () -> {
                  HttpResponse<byte[]> response = answered(request);
                  if (response.statusCode() / 100 != 2) {
                    throw new LakefsException(
                        response.statusCode(),
                        request.method() + " of a presigned URL of " + request.uri().getHost(),
                        text(response.body()));
                  }
                  return response;
                }));
  }

  private static <T> T repeat(CallableRaisingIOE<T> request) throws IOException {
    Object[] answer = new Object[1];
    Retries.times(
        TRIES,
        (time, failure) -> {
          if ((failure instanceof LakefsException && !((LakefsException) failure).mayPass())
              || failure instanceof InterruptedIOException) {
            throw failure;
          }
          pause(FIRST_PAUSE << time);
        },
        () -> answer[0] = request.apply());
    @SuppressWarnings("unchecked")
    T given = (T) answer[0];
    return given;
  }

  /** Waits so many milliseconds. */
  static void pause(long millis) throws InterruptedIOException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Interrupted while waiting for lakeFS");
    }
  }

  private HttpRequest.Builder request(String method, String path, byte[] body, String type) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(endpoint + path))
            .timeout(TIMEOUT)
            .header("Authorization", authorization)
            .method(
                method,
                body.length == 0 && !method.equals("POST")
                    ? BodyPublishers.noBody()
                    : BodyPublishers.ofByteArray(body));
    return body.length == 0 && !method.equals("POST")
        ? request
        : request.header("Content-Type", type);
  }

  private byte[] send(HttpRequest.Builder builder) throws IOException {
    HttpRequest request = builder.build();
    HttpResponse<byte[]> response = answered(request);
    if (response.statusCode() / 100 != 2) {
      String path = request.uri().getRawPath().substring(endpoint.getRawPath().length());
      throw new LakefsException(
          response.statusCode(), request.method() + " " + path, message(response.body()));
    }
    return response.body();
  }

  private HttpResponse<byte[]> answered(HttpRequest request) throws IOException {
    try {
      return Shared.CLIENT.send(request, BodyHandlers.ofByteArray());
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
  }

  /** The message in the body of an error. */
  private static String message(byte[] body) {
    try {
      return read(body, "message"::equals, Map.of()).text("message");
    } catch (IOException | IllegalArgumentException e) {
      // A proxy answers in its own words.
      return text(body);
    }
  }

  private static String text(byte[] body) {
    String text = new String(body, StandardCharsets.UTF_8).trim();
    return text.substring(0, Math.min(text.length(), LONGEST_MESSAGE));
  }

  /**
   * Reads an answer.
   *
   * @throws IOException if it is not what lakeFS answers
   */
  static Record read(byte[] answer, Predicate<String> asked, Map<String, Consumer<Record>> items)
      throws IOException {
    try {
      return Record.read(answer, asked, items);
    } catch (IllegalArgumentException e) {
      throw new IOException("This is no answer of lakeFS: " + text(answer), e);
    }
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

    /** Whether the same request may be served a little later. */
    boolean mayPass() {
      return status >= 500 && status != 501;
    }
  }
}
