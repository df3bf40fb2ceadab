package mem
