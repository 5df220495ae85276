// SPDX-License-Identifier: Apache-2.0
/** What a job commit will make visible, made and checked before anything becomes visible. */
package io.manifestcommitter.plan;
