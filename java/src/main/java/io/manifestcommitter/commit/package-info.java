// SPDX-License-Identifier: Apache-2.0
/** The steps of a job commit, and the stories that they make: forward, back, and to the end. */
package io.manifestcommitter.commit;
