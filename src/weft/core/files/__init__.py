"""Files of jobs: paths and addresses, stores, products, and what is written down of them."""
