#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# many_machines.sh: many_machines.py with a Python that has Ray and Spark: HALITE_MANY_PYTHON, else python3, else an environment
# in build/many that pip fills. Skipped where there is none, or no Java for Spark.
python=${HALITE_MANY_PYTHON:-python3}
command -v java >/dev/null || {
    echo "skipped: no Java, which Spark needs"
    exit 77
}
if ! "$python" -c 'import numpy, pandas, pyarrow, pyspark, ray' 2>/dev/null; then
    python=build/many/bin/python
    if ! "$python" -c 'import numpy, pandas, pyarrow, pyspark, ray' 2>/dev/null; then
        python3 -m venv build/many && build/many/bin/pip install --quiet numpy pandas pyarrow pyspark ray || {
            echo "skipped: pip cannot install numpy, pandas, pyarrow, pyspark and ray"
            exit 77
        }
    fi
fi
# Spark starts its Pythons by name.
export PYSPARK_PYTHON="$python" PYSPARK_DRIVER_PYTHON="$python" RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0
exec "$python" bindings/python/tests/many_machines.py "$@"
