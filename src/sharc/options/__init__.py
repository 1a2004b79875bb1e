"""What can be set for each method and memory, and its value unless params.yaml says otherwise.

Defaults are defined only here. Values are checked where they enter: params.yaml in
`sharc.config`, the options of users' classes by `parsed`. A method or memory receives its model.
"""
