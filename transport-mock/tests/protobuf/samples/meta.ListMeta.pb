
text 2text 3text 4 úÿÿÿÿÿÿÿÿ*
text 9