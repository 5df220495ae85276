/** Programs for the command line. */
package io.manifestcommitter.cli;
