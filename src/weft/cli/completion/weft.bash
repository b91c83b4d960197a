_weft() {
  local kind word
  COMPREPLY=()
  {
    read -r kind
    while IFS= read -r word; do COMPREPLY+=("$word"); done
  } < <(command weft --complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
  case $kind in
    command*)
      if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$((${kind#command } + 1))"
      elif declare -F _command_offset >/dev/null; then
        _command_offset "$((${kind#command } + 1))"
      elif (( COMP_CWORD == ${kind#command } + 1 )); then
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -c -- "$2")
      fi ;;
    files) ;;
    *)
      compopt +o default
      compopt -o nosort 2>/dev/null
      [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace ;;
  esac
}

complete -o default -F _weft weft
