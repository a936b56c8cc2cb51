#!/bin/sh
# Neither the JVM nor the Python processes that it starts need the secrets of the service.
for name in $(env | sed -n 's/^\(RACKPLAN_[A-Za-z_]*\|PG[A-Z]*\|OTEL_[A-Z_]*\)=.*/\1/p'); do
  [ "$name" = RACKPLAN_COMPILED ] || unset "$name"
done
# Spark asks for a module that its SQL does not need and that this Java may lack.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
