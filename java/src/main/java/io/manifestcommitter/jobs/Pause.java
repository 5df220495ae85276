package io.manifestcommitter.jobs;

import java.io.IOException;

/** What a job does between two looks at another one. */
@FunctionalInterface
public interface Pause {
  /** Waits a while; fails if the job is to wait no more. */
  void pause() throws IOException;
}
