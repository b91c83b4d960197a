cwlVersion: v1.2
class: CommandLineTool
baseCommand: cat
inputs:
  parts: {type: "File[]", inputBinding: {position: 1}}
stdout: joined.txt
outputs:
  joined: stdout
