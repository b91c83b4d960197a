cwlVersion: v1.2
class: CommandLineTool
baseCommand: [wc, -c]
inputs:
  text: {type: File, inputBinding: {position: 1}}
stdout: count.txt
outputs:
  count: stdout
requirements:
  ResourceRequirement: {coresMin: 1, ramMin: 100, outdirMin: 10, tmpdirMin: 10}
