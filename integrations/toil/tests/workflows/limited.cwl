cwlVersion: v1.2
class: CommandLineTool
doc: Its limit is shorter than what Toil's worker needs to start, and its cores are no whole number.
baseCommand: ['true']
requirements:
  ToolTimeLimit: {timelimit: 1}
  ResourceRequirement: {coresMin: 0.50, ramMin: 64.5}
inputs:
  folder: string
outputs: []
