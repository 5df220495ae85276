// SPDX-License-Identifier: Apache-2.0
/** The only code that touches a filesystem, and what it promises about each operation. */
package io.manifestcommitter.store;
