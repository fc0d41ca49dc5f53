"""Why a number is what it is: formulas with the numbers put in."""
