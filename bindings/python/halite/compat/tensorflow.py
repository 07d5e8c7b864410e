# SPDX-License-Identifier: Apache-2.0
"""Importing this makes `tensorflow` mean Halite in this process; see halite.compat."""

from halite.compat import take

take("tensorflow")
