cwlVersion: v1.2
class: Workflow
requirements: {SubworkflowFeatureRequirement: {}}
inputs:
  texts: File[]
outputs:
  total: {type: File, outputSource: all/count}
  joined: {type: File, outputSource: counts/joined}
steps:
  counts:
    run: inner.cwl
    in: {texts: texts}
    out: [joined]
  all:
    run: count.cwl
    in: {text: counts/joined}
    out: [count]
