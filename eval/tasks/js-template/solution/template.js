const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// render fills the places {{name}} of a template with escaped values, and {{{name}}} with values as they are.
export function render(template, values) {
  return template.replace(/\{\{\{([^{}]+)\}\}\}|\{\{([^{}]+)\}\}/g, (_, raw, escaped) => {
    const name = (raw ?? escaped).trim();
    if (!Object.hasOwn(values, name)) {
      throw new Error(`the template needs ${name}`);
    }
    const value = values[name] ?? "";
    return raw === undefined ? String(value).replace(/[&<>"']/g, (c) => entities[c]) : String(value);
  });
}
