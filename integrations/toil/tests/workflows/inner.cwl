cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs:
  texts: File[]
outputs:
  joined: {type: File, outputSource: join/joined}
steps:
  count:
    run: count.cwl
    scatter: text
    in: {text: texts}
    out: [count]
  join:
    run: join.cwl
    in: {parts: count/count}
    out: [joined]
