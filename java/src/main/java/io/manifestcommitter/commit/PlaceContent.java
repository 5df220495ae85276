// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swaps;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.hadoop.fs.Path;

/** What lies at a place that a swap publishes: files that somebody claims, and others. */
final class PlaceContent {
  private final ReturnForeign.Claim claim;
  private boolean exists;
  private int claimed;
  private boolean foreign;

  private PlaceContent(ReturnForeign.Claim claim) {
    this.claim = claim;
  }

  /** Lists a place, with all claimed directories below it. */
  static PlaceContent list(Store store, Path place, ReturnForeign.Claim claim) throws IOException {
    PlaceContent content = new PlaceContent(claim);
    content.add(store, place);
    return content;
  }

  /** What swaps bring: files of the plan. */
  static ReturnForeign.Claim planned(Swaps swaps) {
    return claim(swaps, Set.of(), name -> false);
  }

  /** What is of a job: what swaps bring, and what has its id in its name. */
  static ReturnForeign.Claim own(JobPlan plan) {
    return claim(plan.swaps(), plan.missingDirectories(), name -> name.contains(plan.jobId()));
  }

  private static ReturnForeign.Claim claim(Swaps swaps, Set<Path> made, Predicate<String> names) {
    return new ReturnForeign.Claim() {
      @Override
      public boolean keepsFile(Path place, StoreEntry file) {
        boolean planned =
            swaps.bringing(place.getParent()) >= 0
                && swaps.names(place.getParent(), place.getName());
        return planned || names.test(place.getName());
      }

      @Override
      public boolean keepsDirectory(Path place) {
        return swaps.bringing(place) >= 0 || made.contains(place);
      }
    };
  }

  boolean exists() {
    return exists;
  }

  /** How many files are claimed. */
  int claimed() {
    return claimed;
  }

  /** Whether there is anything else. */
  boolean hasForeign() {
    return foreign;
  }

  private void add(Store store, Path directory) throws IOException {
    List<Path> below = new ArrayList<>();
    try {
      store.list(
          directory,
          entry -> {
            if (entry.isDirectory()) {
              if (claim.keepsDirectory(entry.path())) {
                below.add(entry.path());
              } else {
                foreign = true;
              }
            } else if (claim.keepsFile(entry.path(), entry)) {
              claimed++;
            } else {
              foreign = true;
            }
          });
      exists = true;
    } catch (FileNotFoundException e) {
      return;
    }
    for (Path path : below) {
      add(store, path);
    }
  }
}
