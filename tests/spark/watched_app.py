# SPDX-License-Identifier: Apache-2.0
"""A driver that watches itself, for spark_test.py: prints what tare has of
it while it lives, and after it was stopped."""

import json

from pyspark.sql import SparkSession

import tare
import tare.spark

tare.on()
spark = SparkSession.builder.appName("watched").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
watch = tare.spark.watch(spark, interval=0.1)
shared = spark.sparkContext.broadcast(list(range(20000)))
spark.range(100).count()                                    # line 19
lazy = spark.sparkContext.parallelize(range(10), 2).map(lambda x: x + 1)
print(lazy.sum())                                           # line 21
spark.stop()
watch.close()
print(json.dumps({
    "trouble": watch.trouble, "jobs": watch.app.n["jobs"],
    "ended": watch.app.is_ended,
    "series": [[one.source, one.name, one.labels, one.count]
               for one in tare.stats(["*"], source=[
                   "spark.action", "spark.broadcast"])]}))
