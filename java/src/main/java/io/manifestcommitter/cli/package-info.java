// SPDX-License-Identifier: Apache-2.0
/** Programs for the command line. */
package io.manifestcommitter.cli;
