#!/bin/sh
# The main job on real data: ten systems that guess how English words are spoken, combined into one better answer.
cd "$(dirname "$0")/.."
EXTRAS= && . ./.ci/venv.sh
exec structens combine "${1:-data/pronunciation.jsonl}" --output predictions.jsonl --table
