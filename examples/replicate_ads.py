"""Replicate the ADS columns of tables 1 and 2: prints that table of docs/experiments.md, published rows beside ours.

    python examples/replicate_ads.py            # ten folds of 40,000 sequences
    python examples/replicate_ads.py --quick    # 2,000 sequences and two folds: noisier

Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (ICML 2014), and the ACL 2014 version for
ADS3. `examples/experiments.py --only ads` brings the page up to date as well.
"""

import argparse
from pathlib import Path

from tables import ads, protocol

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--quick", action="store_true", help="few sequences and folds: shows that it runs")
quick = parser.parse_args().quick
if quick:
    protocol.DEEP_ROUNDS = 5
print(ads.tables(Path(), quick))
