# Two-way headless: drives `octant run --input-json` from Python, answers its questions and interrupts it.
import json
import subprocess
import sys

child = subprocess.Popen(
    [*sys.argv[1:], "run", "--input-json", "--provider", "anthropic"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
)


def send(**message):
    child.stdin.write(json.dumps(message) + "\n")
    child.stdin.flush()


send(type="message", text="Write hello.txt.")
for line in child.stdout:
    event = json.loads(line)
    if event["type"] == "question":
        question = event["question"]
        print("asked:", question["action"])
        send(type="answer", question_id=question["question_id"], answer="once")
    elif event["type"] == "tool_ended":
        print("tool:", event["name"], "failed" if event["is_error"] else "ok")
    elif event["type"] == "result":
        print(event["reason"], "-", event["message"] or event["text"])
        child.stdin.close()
print("exit code", child.wait())
