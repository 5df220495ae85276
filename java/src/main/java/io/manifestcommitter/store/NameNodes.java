// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/**
 * Tells whether two URIs lead to the same HDFS, by the client's configuration and the addresses of
 * hosts. Asks no NameNode.
 *
 * <p>A nameservice of the configuration, {@code hdfs://ns}, is one with each of its NameNodes, also
 * by {@code webhdfs} and {@code swebhdfs}. Other NameNodes are one if scheme and port are the same,
 * the port perhaps by default, and if their hosts have an address in common.
 *
 * <p>It cannot tell that a host by its own name and by {@code localhost} are one, nor a router and
 * the nameservice behind it. Nor can it tell that {@code hdfs} and {@code webhdfs} are one, of a
 * NameNode that is not in the configuration.
 */
final class NameNodes {
  private static final Map<String, String> ADDRESS_KEYS =
      Map.of(
          "hdfs", "dfs.namenode.rpc-address",
          "webhdfs", "dfs.namenode.http-address",
          "swebhdfs", "dfs.namenode.https-address");
  private static final Map<String, Integer> DEFAULT_PORTS =
      Map.of("hdfs", 8020, "webhdfs", 9870, "swebhdfs", 9871);

  private final Configuration conf;

  /** NameNodes as a client with this configuration knows them. */
  NameNodes(Configuration conf) {
    this.conf = Objects.requireNonNull(conf);
  }

  /** Whether both URIs lead to one HDFS. */
  boolean areSame(URI one, URI other) {
    if (!isHdfs(one) || !isHdfs(other)) {
      return false;
    }
    Optional<String> service = service(one);
    if (service.isPresent()) {
      return service.equals(service(other));
    }
    return one.getScheme().equals(other.getScheme())
        && areSameAddress(one.getScheme(), one.getAuthority(), other.getAuthority());
  }

  private static boolean isHdfs(URI uri) {
    return uri.getScheme() != null
        && ADDRESS_KEYS.containsKey(uri.getScheme())
        && uri.getAuthority() != null;
  }

  /** The nameservice of the configuration that a URI leads to; empty text if it has no name. */
  private Optional<String> service(URI uri) {
    Collection<String> services = conf.getTrimmedStringCollection("dfs.nameservices");
    if (services.contains(uri.getAuthority()) && !nodes(uri.getAuthority()).isEmpty()) {
      return Optional.of(uri.getAuthority());
    }
    for (String service : services) {
      List<String> keys = new ArrayList<>();
      nodes(service).forEach(node -> keys.add("." + service + "." + node));
      if (keys.isEmpty()) {
        keys.add("." + service);
      }
      if (keys.stream().anyMatch(key -> isAddress(uri, key))) {
        return Optional.of(service);
      }
    }
    return isAddress(uri, "") ? Optional.of("") : Optional.empty();
  }

  private Collection<String> nodes(String service) {
    return conf.getTrimmedStringCollection("dfs.ha.namenodes." + service);
  }

  private boolean isAddress(URI uri, String keySuffix) {
    // Hadoop takes an address with a scheme, too.
    String address =
        conf.getTrimmed(ADDRESS_KEYS.get(uri.getScheme()) + keySuffix, "")
            .replaceFirst("^[a-z]+://", "");
    return !address.isEmpty() && areSameAddress(uri.getScheme(), uri.getAuthority(), address);
  }

  private static boolean areSameAddress(String scheme, String one, String other) {
    if (one.equalsIgnoreCase(other)) {
      return true;
    }
    return port(scheme, one) == port(scheme, other)
        && (host(one).equalsIgnoreCase(host(other))
            || !Collections.disjoint(addresses(host(one)), addresses(host(other))));
  }

  private static String host(String authority) {
    int colon = portColon(authority);
    return colon < 0 ? authority : authority.substring(0, colon);
  }

  private static int port(String scheme, String authority) {
    int colon = portColon(authority);
    return colon < 0 ? DEFAULT_PORTS.get(scheme) : Integer.parseInt(authority.substring(colon + 1));
  }

  /** Where the port begins; -1 if there is none, as in an IPv6 address without one. */
  private static int portColon(String authority) {
    int colon = authority.lastIndexOf(':');
    return authority.substring(colon + 1).matches("[0-9]{1,5}") && colon > authority.indexOf(']')
        ? colon
        : -1;
  }

  /** None if the host is not known here. */
  private static Set<InetAddress> addresses(String host) {
    try {
      return new HashSet<>(Arrays.asList(InetAddress.getAllByName(host)));
    } catch (UnknownHostException e) {
      return Set.of();
    }
  }
}
