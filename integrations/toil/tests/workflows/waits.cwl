cwlVersion: v1.2
class: CommandLineTool
baseCommand: [sh, -c, 'echo ran >> "$0/ran"; until [ -e "$0/go" ]; do sleep 0.1; done; echo "done" >> "$0/ran"']
inputs:
  folder: {type: string, inputBinding: {position: 1}}
outputs: []
