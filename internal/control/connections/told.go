package connections

import (
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/modelgw"
	"choiros/internal/names"
)

// ModelsPlace is the page on which models are connected.
var ModelsPlace = choir.TellSentence("told.modelsPlace", names.ModelsPlace)

// TellModels returns the sentences about the models in force.
func (c *Connections) TellModels(m api.ModelState) choir.Told {
	said := c.tellConnected(m)
	for _, name := range m.Priceless {
		_, help := choir.TellError(modelgw.NoPrice(name))
		said = choir.TellAround("told.modelPriceless", "{said} The price of the model \"{name}\" is not known, so that no budget could hold: {help}.",
			map[string]choir.Told{"said": said, "help": help}, choir.TextOf("name", name))
	}
	return said
}

// tellConnected returns a sentence about which roles have a model.
func (c *Connections) tellConnected(m api.ModelState) choir.Told {
	place := map[string]choir.Told{"place": ModelsPlace}
	director, associate := choir.LinesOf("director", m.Director), choir.LinesOf("associate", m.Associate)
	switch {
	case m.Connected:
		return choir.TellSentence("models.both", "The Director uses {director}, the Associate {associate}.", director, associate)
	case m.Director != "":
		return choir.TellAround("models.noAssociate", "The Director uses {director}, and no model is connected for the Associate: connect one under {place}.", place, director)
	case m.Associate != "":
		return choir.TellAround("models.noDirector", "The Associate uses {associate}, and no model is connected for the Director: connect one under {place}.", place, associate)
	}
	return choir.TellAround("models.none", "No model is connected: connect one under {place}, or name it under [models] in {file}; the recorded demo works without one.",
		place, choir.LinesOf("file", filepath.Join(c.cfg.Data, "choir.toml")))
}
