"""The data of lessons: files, links, questions, right answers and how an answer is judged."""
