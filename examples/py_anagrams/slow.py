# Groups words that are anagrams of one another: prints every group of two or more words, the largest group first
# (then alphabetically), with its words in alphabetical order and without repeats.
import sys


def is_anagram(a, b):
    return sorted(a) == sorted(b)


def main():
    words = []
    for line in sys.stdin:
        for word in line.split():
            word = word.lower()
            if word not in words:
                words.append(word)
    groups = []
    for word in words:
        for group in groups:
            if len(group[0]) == len(word) and is_anagram(group[0], word):
                group.append(word)
                break
        else:
            groups.append([word])
    groups = [sorted(group) for group in groups if len(group) > 1]
    groups.sort(key=lambda group: (-len(group), group))
    text = ""
    for group in groups:
        for word in group:
            text = text + word + " "
        text = text.rstrip() + "\n"
    print(text, end="")
    print(len(groups), "groups")


main()
