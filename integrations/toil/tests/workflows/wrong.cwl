cwlVersion: v1.2
class: CommandLineTool
baseCommand: [sh, -c, 'echo ran >> "$0/ran"; echo no such gene >&2; exit 3']
inputs:
  folder: {type: string, inputBinding: {position: 1}}
outputs: []
