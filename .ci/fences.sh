#!/usr/bin/env bash
# Plants one forbidden import behind each fence of .golangci.yml and sees that the
# linter refuses it. A fence that lets its import through fails.
set -euo pipefail
cd "$(dirname "$0")/.."
lint=${LINT:-golangci-lint}
planted=()
cleanup() { [ ${#planted[@]} -eq 0 ] || rm -f "${planted[@]}"; }
trap cleanup EXIT

# fence: rule, package folder, package name, import path
fences=(
  "hcl-only-in-spec runner runner github.com/hashicorp/hcl/v2"
  "hcl-only-in-spec results results github.com/zclconf/go-cty/cty"
  "nvml-only-in-gpu runner runner github.com/NVIDIA/go-nvml/pkg/nvml"
  "arrow-only-in-parquet results results github.com/apache/arrow/go/v17/arrow"
  "prometheus-only-in-metrics runner runner github.com/prometheus/common/expfmt"
  "pflag-only-in-cmd spec spec github.com/spf13/pflag"
  "spec-reads-only spec spec net/http"
  "sinks-write-only sinks/progress progress rung/runner"
  "record-is-a-leaf sinks/record record rung/spec/plan"
  "runner-knows-no-file-format runner runner rung/sinks/parquet"
  "results-reads-only results results rung/spec"
)
failed=0
for fence in "${fences[@]}"; do
  read -r rule dir name path <<<"$fence"
  file=$dir/zz_planted_fence.go
  planted+=("$file")
  printf 'package %s\n\nimport _ "%s"\n' "$name" "$path" >"$file"
  if out=$("$lint" run --enable-only depguard "./$dir/..." 2>&1); then
    echo "fence $rule: $dir may import $path"
    failed=1
  elif ! grep -q "depguard" <<<"$out"; then
    echo "fence $rule: refused for another reason:"
    echo "$out" | head -20
    failed=1
  else
    echo "fence $rule: $dir may not import $path"
  fi
  rm -f "$file"
done
exit $failed
