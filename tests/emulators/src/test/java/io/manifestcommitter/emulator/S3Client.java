// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Requests of S3's REST API, sent as they are. */
final class S3Client {
  private final HttpClient http = HttpClient.newHttpClient();
  private final String bucket;

  S3Client(S3Emulator emulator) {
    this.bucket = "http://127.0.0.1:" + emulator.port() + "/emulated";
  }

  /** Sends a request; headers are names and values in turn. */
  HttpResponse<String> send(String method, String keyAndQuery, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(bucket + keyAndQuery))
            .method(method, BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  HttpResponse<String> send(String method, String keyAndQuery)
      throws IOException, InterruptedException {
    return send(method, keyAndQuery, "");
  }

  HttpResponse<String> put(String key, String content) throws IOException, InterruptedException {
    return send("PUT", "/" + encoded(key), content);
  }

  /** The content of an object. */
  String content(String key) throws IOException, InterruptedException {
    HttpResponse<String> answer = send("GET", "/" + encoded(key));
    if (answer.statusCode() != 200) {
      throw new IOException(key + ": " + answer.statusCode());
    }
    return answer.body();
  }

  /** Begins an upload and gives its id. */
  String initiate(String key) throws IOException, InterruptedException {
    return texts(send("POST", "/" + encoded(key) + "?uploads"), "UploadId").get(0);
  }

  /** Sends a part and gives its etag, with its quotes. */
  String part(String key, String upload, int number, String content)
      throws IOException, InterruptedException {
    String query = "?partNumber=" + number + "&uploadId=" + upload;
    return send("PUT", "/" + encoded(key) + query, content).headers().firstValue("ETag").orElse("");
  }

  /** Completes an upload of parts that have these etags. */
  HttpResponse<String> complete(String key, String upload, String... etags)
      throws IOException, InterruptedException {
    StringBuilder parts = new StringBuilder("<CompleteMultipartUpload>");
    for (int i = 0; i < etags.length; i++) {
      parts
          .append("<Part><PartNumber>")
          .append(i + 1)
          .append("</PartNumber><ETag>")
          .append(etags[i])
          .append("</ETag></Part>");
    }
    return send(
        "POST",
        "/" + encoded(key) + "?uploadId=" + upload,
        parts.append("</CompleteMultipartUpload>").toString());
  }

  static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** The code of an error. */
  static String code(HttpResponse<String> answer) {
    return texts(answer, "Code").stream().findFirst().orElse("");
  }

  /** The texts of all elements of a name. */
  static List<String> texts(HttpResponse<String> answer, String element) {
    Matcher found =
        Pattern.compile("<" + element + ">([^<]*)</" + element + ">").matcher(answer.body());
    List<String> texts = new ArrayList<>();
    while (found.find()) {
      texts.add(found.group(1));
    }
    return texts;
  }
}
