console.log("new");
