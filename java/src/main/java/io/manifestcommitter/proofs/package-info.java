// SPDX-License-Identifier: Apache-2.0
/** What a real store is asked before data is trusted to it: each question by trying it. */
package io.manifestcommitter.proofs;
