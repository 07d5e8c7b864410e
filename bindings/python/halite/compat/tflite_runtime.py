# SPDX-License-Identifier: Apache-2.0
"""Importing this makes `tflite_runtime` mean Halite in this process; see halite.compat."""

from halite.compat import take

take("tflite_runtime")
