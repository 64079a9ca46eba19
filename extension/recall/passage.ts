// The widget above the editor that shows, on arrival in a session, the passage one came for.

/** pi's key for the widget. */
export const PASSAGE_WIDGET = "memory-passage";
