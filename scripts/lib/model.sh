# The dev stack's model: a tiny random one, made here, so that nothing is fetched from a model hub.

ensure_model() {
    [ ! -d "$DEV/model" ] || return 0
    mkdir -p "$DEV"
    python3 "$PROJECT/dev/make_model.py" "$DEV/model" || fail "the model could not be made in $DEV/model" "It needs Python >= 3.8 as python3, and 1 MB of space."
}
