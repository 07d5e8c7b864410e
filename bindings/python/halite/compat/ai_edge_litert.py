# SPDX-License-Identifier: Apache-2.0
"""Importing this makes `ai_edge_litert` mean Halite in this process; see halite.compat."""

from halite.compat import take

take("ai_edge_litert")
