/** The texts of the phrase by which the owner recognizes the shell. */
export const phrase = {
  yours: "Your phrase:",
  none: "An agent’s page can look like this one. It cannot know a phrase of yours.",
  choose: "Choose a phrase",
  change: "Change",
  about:
    "Words that you will recognize. These pages show them, and no page of an agent can. Where they are missing, type no key and answer nothing.",
  save: "Save",
  cancel: "Cancel",
};
