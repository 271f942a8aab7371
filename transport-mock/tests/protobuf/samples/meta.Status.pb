
%
text 4text 5text 6 *	
text 11text 12text 13"text 14*C
text 17text 18text 19"
text 23text 24text 25(2text 200åÿÿÿÿÿÿÿÿ