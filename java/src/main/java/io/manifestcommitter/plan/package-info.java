/** What a job commit will make visible, made and checked before anything becomes visible. */
package io.manifestcommitter.plan;
