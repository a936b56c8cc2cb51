# Prints the first path that the account which runs this cannot pass. For the account itself, the kernel checks each
# path in turn; reading mode bits would miss ACLs and mounts. `$1` is the test of a folder: that it can be passed, or
# listed as well.
test=$1; shift
for path; do
  if [ -d "$path" ]; then [ -x "$path" ] && [ $test "$path" ]; else [ -r "$path" ]; fi || { printf %s "$path"; exit; }
done
